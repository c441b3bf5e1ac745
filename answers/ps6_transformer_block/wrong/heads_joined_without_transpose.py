"""The outputs of the heads are reshaped to one row for each word, without exchanging the axes first.

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
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(W_k.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    joined = (weights @ V).reshape(len(X), -1)
    return joined @ W_o.reshape(-1, W_o.shape[2]), weights
