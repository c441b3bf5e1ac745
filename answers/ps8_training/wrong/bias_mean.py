"""The gradient of the bias is the mean over the rows; the feed-forward layer follows from that.

Loses:
    test_linear_backward: d_b agrees with finite differences
    test_linear_backward: d_b for new random numbers
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return d_Y @ W.T, X.T @ d_Y, np.mean(d_Y, axis=0)

# %% [solution] *
