"""The matrices of all heads are reshaped to one, without exchanging the axes.

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
    H, d, _ = W_q.shape
    Q, K, V = ((X @ W.reshape(d, -1)).reshape(len(X), H, -1).transpose(1, 0, 2) for W in (W_q, W_k, W_v))
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(W_k.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.sum(weights @ V @ W_o, axis=0), weights
