"""All heads are projected at once, and then reshaped to the heads without exchanging the axes.

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
    Q, K, V = ((X @ W.transpose(1, 0, 2).reshape(d, -1)).reshape(H, len(X), -1) for W in (W_q, W_k, W_v))
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(W_k.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    joined = (weights @ V).transpose(1, 0, 2).reshape(len(X), -1)
    return joined @ W_o.reshape(-1, W_o.shape[2]), weights
