"""Masked scores become -20, which is not low enough where the other scores are lower.

Loses:
    test_attention_mask: the five embeddings under the causal mask
"""

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    queries, keys, values = X @ W_q, X @ W_k, X @ W_v
    scores = queries @ np.transpose(keys, (0, 2, 1)) / np.sqrt(W_k.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -20.0)
    weights = softmax(scores)
    return np.sum(weights @ values @ W_o, axis=0), weights

# %% [solution] *
