"""The gradient of the inputs is cut off at 10, as people do where gradients explode.

Loses:
    test_linear_backward: d_X
    test_linear_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return np.clip(d_Y @ W.T, -10, 10), X.T @ d_Y, np.sum(d_Y, axis=0)

# %% [solution] *
