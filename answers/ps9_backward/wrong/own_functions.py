"""The parts that are handed over are not called.

Loses:
    test_feed_forward_backward: d_W_2 and d_b_2
    test_feed_forward_backward: d_X, d_W_1 and d_b_1
    test_feed_forward_backward: other sizes, and arguments that stay as they were
    test_attention_backward: without a mask
    test_attention_backward: under the causal mask
    test_attention_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    B = linear(X, W_1, b_1)
    d_H, d_W_2, d_b_2 = linear_backward(d_Y, relu(B), W_2, b_2)
    d_X, d_W_1, d_b_1 = linear_backward(relu_backward(d_H, B), X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    S = scores(Q, K, mask)
    d_A, d_V = mixing_backward(d_Y, softmax(S), V)
    return *scores_backward(softmax_backward(d_A, S), Q, K), d_V

# %% [solution] *
