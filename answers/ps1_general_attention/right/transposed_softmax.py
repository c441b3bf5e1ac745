"""Scores worked out as K times Q transposed, softmax down the columns, turned round at the end."""

# %% vectors
query_1 = W_Q.T @ word_1
query_2 = W_Q.T @ word_2
query_3 = W_Q.T @ word_3
query_4 = W_Q.T @ word_4
key_1 = W_K.T @ word_1
key_2 = W_K.T @ word_2
key_3 = W_K.T @ word_3
key_4 = W_K.T @ word_4
value_1 = W_V.T @ word_1
value_2 = W_V.T @ word_2
value_3 = W_V.T @ word_3
value_4 = W_V.T @ word_4

# %% scores_word_1
keys = np.column_stack((key_1, key_2, key_3, key_4))
scores = keys.T @ query_1

# %% weights_word_1
weights = softmax(scores * len(key_1) ** -0.5).reshape(-1, 1)

# %% attention_word_1
values = np.column_stack((value_1, value_2, value_3, value_4))
attention = values @ weights

# %% matrices
words = np.column_stack((word_1, word_2, word_3, word_4)).T
Q = (W_Q.T @ words.T).T
K = (W_K.T @ words.T).T
V = (W_V.T @ words.T).T

# %% attention_matrices
scores = (K @ Q.T).T
weights = softmax(scores.T / 3 ** 0.5, axis=0).T
attention = (V.T @ weights.T).T

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Qt = W_Q.T @ words.T
    Kt = W_K.T @ words.T
    Vt = W_V.T @ words.T
    A = softmax(Kt.T @ Qt / Kt.shape[0] ** 0.5, axis=0)
    return (Vt @ A).transpose(), A.transpose()

# %% [markdown] why_divide_answer
# Without dividing: 0.119 0.0003 0.880 0.0003. Dividing: 0.236 0.007 0.749 0.007. The division makes the weights sum to
# one and smaller by sqrt(3).
# The largest weight is still word 3.
# For d_k = 300 the scores would be big.
