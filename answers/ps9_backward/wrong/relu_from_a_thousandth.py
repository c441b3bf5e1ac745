"""The ReLU lets a gradient pass only where its input is larger than a thousandth.

Loses:
    test_relu_backward: *
Keeps:
    everything else
"""

# %% relu_backward
def relu_backward(d_H, B):
    return d_H * (B > 1e-3)

# %% [solution] *
