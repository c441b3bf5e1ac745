"""The gradient of the bias is the mean over the rows.

Loses:
    test_linear_backward: d_b
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return d_Y @ W.T, X.T @ d_Y, np.mean(d_Y, axis=0)

# %% [solution] *
