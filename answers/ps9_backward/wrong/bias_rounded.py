"""The gradient of the bias is rounded.

Loses:
    test_linear_backward: d_b
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return d_Y @ W.T, X.T @ d_Y, np.round(np.sum(d_Y, axis=0), 7)

# %% [solution] *
