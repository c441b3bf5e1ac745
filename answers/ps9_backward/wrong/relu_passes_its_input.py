"""Where the ReLU is open its output passes, not the gradient.

Loses:
    test_relu_backward: *
Keeps:
    everything else
"""

# %% relu_backward
def relu_backward(d_H, B):
    return np.maximum(B, 0)

# %% [solution] *
