"""The gradient passes where it is positive itself, not where the input of the ReLU is.

Loses:
    test_feed_forward_backward: all five agree with finite differences
    test_feed_forward_backward: d_X, d_W_1 and d_b_1 for new random numbers
    test_feed_forward_backward: other sizes
Keeps:
    everything else
"""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    H = np.maximum(X @ W_1 + b_1, 0)
    d_H, d_W_2, d_b_2 = linear_backward(d_Y, H, W_2, b_2)
    d_X, d_W_1, d_b_1 = linear_backward(np.maximum(d_H, 0), X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% [solution] *
