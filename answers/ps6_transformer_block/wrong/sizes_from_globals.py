"""The sizes are those of the notebook.

Loses:
    test_positions_sizes: *
    test_causal_mask: other numbers of words
    test_attention_sizes: other sizes
    test_layer_norm_sizes: other sizes
    test_feed_forward_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    P = np.zeros((N, d_model))
    for i in range(H):  # two pairs of columns
        angle = np.arange(N) / 10000 ** (2 * i / d_model)
        P[:, 2 * i], P[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return P

# %% causal_mask
def causal_mask(N):
    return np.array([[j <= i for j in range(len(words))] for i in range(len(words))])[-N:, :N]

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    attention, weights = 0, []
    for h in range(H):
        scores = X @ W_q[h] @ (X @ W_k[h]).T / np.sqrt(d_k)
        weights.append(softmax(scores if mask is None else np.where(mask, scores, -np.inf)))
        attention = attention + weights[h] @ X @ W_v[h] @ W_o[h]
    return attention, np.array(weights)

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    mean = X.sum(axis=1, keepdims=True) / d_model
    variance = ((X - mean) ** 2).sum(axis=1, keepdims=True) / d_model
    return gamma * (X - mean) / np.sqrt(variance + eps) + beta

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    hidden = np.zeros((len(X), d_ff))
    for j in range(d_ff):
        hidden[:, j] = np.maximum(X @ W_1[:, j] + b_1[j], 0)
    return hidden @ W_2 + b_2
