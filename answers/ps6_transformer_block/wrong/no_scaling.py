"""The scores are not divided by anything.

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
    scores = np.einsum("nd,hdk,hek,me->hnm", X, W_q, W_k, X)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.einsum("hij,jd,hdv,hve->ie", weights, X, W_v, W_o), weights
