"""The second linear layer gets B for H.

Loses:
    test_feed_forward_backward: d_W_2 and d_b_2
    test_feed_forward_backward: d_X, d_W_1 and d_b_1
    test_feed_forward_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    B = linear(X, W_1, b_1)
    d_H, d_W_2, d_b_2 = parts["linear"](d_Y, B, W_2, b_2)
    d_X, d_W_1, d_b_1 = parts["linear"](parts["relu"](d_H, B), X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% [solution] *
