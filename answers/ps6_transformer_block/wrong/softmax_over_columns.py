"""The softmax works down each column of the map.

Loses:
    test_attention: the five embeddings without a mask
    test_attention: new random numbers without a mask
    test_attention_mask: *
    test_attention_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    scores = np.einsum("nd,hdk,hek,me->hnm", X, W_q, W_k, X) / np.sqrt(W_q.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.swapaxes(softmax(np.swapaxes(scores, 1, 2)), 1, 2)
    return np.einsum("hij,jd,hdv,hve->ie", weights, X, W_v, W_o), weights
