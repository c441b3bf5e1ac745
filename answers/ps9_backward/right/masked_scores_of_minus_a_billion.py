"""The masked scores are -10^9, their gradient is set to zero, and so is what the ReLU stopped."""

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    B = X @ W_1 + b_1
    H = np.maximum(B, 0)
    d_H, d_W_2, d_b_2 = parts["linear"](d_Y, H, W_2, b_2)
    d_B = parts["relu"](d_H, B) * (H > 0)
    d_X, d_W_1, d_b_1 = parts["linear"](d_B, X, W_1, b_1)
    return d_X, d_W_1, d_b_1, d_W_2, d_b_2

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    if mask is None:
        mask = np.ones((len(Q), len(Q)), dtype=bool)
    S = np.where(mask, Q @ K.T / np.sqrt(Q.shape[1]), -1e9)
    d_A, d_V = parts["mixing"](d_Y, softmax(S), V)
    d_S = parts["softmax"](d_A, S)
    d_S[~mask] = 0
    d_Q, d_K = parts["scores"](d_S, Q, K)
    return d_Q, d_K, d_V

# %% [solution] *
