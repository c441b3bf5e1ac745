"""The gradient of the matrix is the mean over the rows.

Loses:
    test_linear_backward: d_W
    test_linear_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return d_Y @ W.T, X.T @ d_Y / len(X), np.sum(d_Y, axis=0)

# %% [solution] *
