"""Another activation, the logistic function.

Loses:
    test_feed_forward: *
    test_feed_forward_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return 1 / (1 + np.exp(-(X @ W_1 + b_1))) @ W_2 + b_2
