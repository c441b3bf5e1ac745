"""The bias gets the gradient of all rows, which is not summed.

Loses:
    test_linear_backward: d_b
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return d_Y @ W.T, X.T @ d_Y, d_Y

# %% [solution] *
