"""A hundredth of what is negative passes the ReLU.

Loses:
    test_feed_forward: *
    test_feed_forward_sizes: other sizes
Keeps:
    everything else
"""

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    hidden = X @ W_1 + b_1
    return np.where(hidden > 0, hidden, 0.01 * hidden) @ W_2 + b_2

# %% [solution] *
