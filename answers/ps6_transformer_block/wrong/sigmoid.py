"""Another activation, which is none of the usual mistakes, so that the block's numbers are lost as well.

Loses:
    test_block: *
    test_block_parts: each half alone
    test_block_sizes: other sizes
    test_feed_forward: *
    test_feed_forward_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return 1 / (1 + np.exp(-(X @ W_1 + b_1))) @ W_2 + b_2
