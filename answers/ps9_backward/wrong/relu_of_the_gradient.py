"""The gradient passes where it is positive itself, not where the input of the ReLU is.

Loses:
    test_relu_backward: *
Keeps:
    everything else
"""

# %% relu_backward
def relu_backward(d_H, B):
    return np.maximum(d_H, 0)

# %% [solution] *
