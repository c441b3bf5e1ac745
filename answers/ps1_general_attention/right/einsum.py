"""Everything by einsum, results unpacked from arrays, the softmax written inline with keepdims."""

# %% vectors
X = np.array([word_1, word_2, word_3, word_4])
query_1, query_2, query_3, query_4 = np.einsum("nd,dk->nk", X, W_Q)
key_1, key_2, key_3, key_4 = np.einsum("nd,dk->nk", X, W_K)
value_1, value_2, value_3, value_4 = np.einsum("nd,dv->nv", X, W_V)

# %% scores_word_1
scores = np.einsum("k,jk->j", query_1, np.stack([key_1, key_2, key_3, key_4]))

# %% weights_word_1
weights = np.exp(scores / np.sqrt(3)) / np.exp(scores / np.sqrt(3)).sum()

# %% attention_word_1
attention = np.einsum("j,jv->v", weights, np.stack([value_1, value_2, value_3, value_4]))

# %% matrices
words = X
Q, K, V = (np.einsum("nd,dk->nk", words, W) for W in (W_Q, W_K, W_V))

# %% attention_matrices
scores = np.einsum("ik,jk->ij", Q, K)
weights = np.exp(scores / np.sqrt(3))
weights = weights / weights.sum(axis=1, keepdims=True)
attention = np.einsum("ij,jv->iv", weights, V)

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = np.einsum("nd,dk->nk", words, W_Q)
    K = np.einsum("nd,dk->nk", words, W_K)
    V = np.einsum("nd,dv->nv", words, W_V)
    exponent = np.einsum("ik,jk->ij", Q, K) / np.sqrt(Q.shape[-1])
    A = np.exp(exponent)
    A = A / A.sum(axis=1, keepdims=True)
    return np.einsum("ij,jv->iv", A, V), A

# %% [markdown] why_divide_answer
# Word 1: [0.236 0.007 0.749 0.007] with sqrt(3), [0.119 0.000 0.880 0.000] without. a3/a1 = e^(s3-s1), so e^2 = 7.39
# without and e^(2/sqrt 3) = 3.17 with it: only the difference of the scores matters and the division shrinks it. The
# order of the scores does not change, so word 3 stays first; divide by infinity and everyone gets 1/4. The variance
# of the score is d_k (sum of d_k independent products of variance 1). At d_k = 300 the scores are of the order of 17
# and the softmax is practically an argmax, so its gradient vanishes as well.
