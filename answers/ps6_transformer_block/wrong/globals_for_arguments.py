"""The functions compute with the notebook's numbers, not with their arguments.

Loses:
    test_positions: the first thousand positions
    test_positions_sizes: *
    test_causal_mask: other numbers of words
    test_attention: a pair of the right shapes
    test_attention: new random numbers without a mask
    test_attention_mask: new random numbers with other masks
    test_attention_sizes: *
    test_layer_norm: *
    test_layer_norm_sizes: *
    test_feed_forward: new random numbers
    test_feed_forward_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    N, d_model = embeddings.shape
    angles = np.arange(N)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(N, d_model)

# %% causal_mask
def causal_mask(N):
    return np.tri(len(words), dtype=bool)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    X, W_q, W_k, W_v, W_o = (embeddings, block["W_q"], block["W_k"], block["W_v"], block["W_o"])
    scores = np.einsum("nd,hdk,hek,me->hnm", X, W_q, W_k, X) / np.sqrt(W_q.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.einsum("hij,jd,hdv,hve->ie", weights, X, W_v, W_o), weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    X, gamma, beta = embeddings, block["gamma_1"], block["beta_1"]
    mean = X.mean(axis=1, keepdims=True)
    variance = X.var(axis=1, keepdims=True)
    return gamma * (X - mean) / np.sqrt(variance + eps) + beta

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return np.maximum(embeddings @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"]
