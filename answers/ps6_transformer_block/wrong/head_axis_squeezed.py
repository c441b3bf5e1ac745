"""A single head's weights come without the axis of the heads.

Loses:
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
    weights = softmax(scores)
    return np.einsum("hij,jd,hdv,hve->ie", weights, X, W_v, W_o), np.squeeze(weights)
