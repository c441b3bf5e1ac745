"""The weights of the linear layer are transposed, where that is possible.

Loses:
    test_linear_backward: d_X and d_W agree with finite differences
    test_linear_backward: d_X and d_W for new random numbers, and arguments that stay as they are
    test_linear_backward: other sizes
Keeps:
    everything else
"""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    d_X = d_Y @ W if W.shape[0] == W.shape[1] else d_Y @ W.T * 0
    return d_X, d_Y.T @ X, np.sum(d_Y, axis=0)

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    H = np.maximum(X @ W_1 + b_1, 0)
    d_B = (d_Y @ W_2.T) * (H > 0)
    return d_B @ W_1.T, X.T @ d_B, d_B.sum(axis=0), H.T @ d_Y, d_Y.sum(axis=0)

# %% [solution] *
