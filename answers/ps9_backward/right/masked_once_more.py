"""The masked scores are -10^9; what the mask or the ReLU set to zero is set to zero once more, and its part gets H."""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    H = relu(linear(X, W_1, b_1))
    d_H, d_W_2, d_b_2 = parts["linear"](d_Y, H, W_2, b_2)
    d_X, d_W_1, d_b_1 = parts["linear"](parts["relu"](d_H * (H > 0), H) * (H > 0), X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    if mask is None:
        mask = np.ones((len(Q), len(Q)), dtype=bool)
    S = np.where(mask, Q @ K.T / np.sqrt(Q.shape[1]), -1e9)
    A = softmax(S)
    d_A, d_V = parts["mixing"](d_Y, A, V)
    d_S = parts["softmax"](np.where(A > 0, d_A, 0), S)
    d_S[~mask] = 0
    d_Q, d_K = parts["scores"](d_S, Q, K)
    return d_Q, d_K, d_V

# %% [solution] *
