"""What the mask or the ReLU set to zero is set to zero once more, and the ReLU part gets H."""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    H = relu(linear(X, W_1, b_1))
    d_H, d_W_2, d_b_2 = parts["linear"](d_Y, H, W_2, b_2)
    d_X, d_W_1, d_b_1 = parts["linear"](parts["relu"](d_H * (H > 0), H), X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    S = scores(Q, K, mask)
    A = softmax(S)
    d_A, d_V = parts["mixing"](d_Y, A, V)
    d_S = parts["softmax"](np.where(A > 0, d_A, 0), S)
    d_Q, d_K = parts["scores"](np.where(A > 0, d_S, 0), Q, K)
    return d_Q, d_K, d_V

# %% [solution] *
