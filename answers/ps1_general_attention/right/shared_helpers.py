"""One helper for any words, written in the matrix cell and called from everywhere else."""

# %% vectors
query_1, query_2, query_3, query_4 = np.vsplit(np.vstack([word_1, word_2, word_3, word_4]) @ W_Q, 4)
key_1, key_2, key_3, key_4 = np.vsplit(np.vstack([word_1, word_2, word_3, word_4]) @ W_K, 4)
value_1, value_2, value_3, value_4 = np.vsplit(np.vstack([word_1, word_2, word_3, word_4]) @ W_V, 4)

# %% scores_word_1
scores = np.tensordot(query_1, np.concatenate([key_1, key_2, key_3, key_4]), axes=([1], [1]))

# %% weights_word_1
weights = np.exp(scores / np.sqrt(key_1.shape[-1]) - np.max(scores / np.sqrt(key_1.shape[-1])))
weights /= weights.sum()

# %% attention_word_1
attention = np.tensordot(weights, np.concatenate([value_1, value_2, value_3, value_4]), axes=1)[0]

# %% matrices
def project(words, W_Q, W_K, W_V):
    return words @ W_Q, words @ W_K, words @ W_V

words = np.vstack((word_1, word_2, word_3, word_4)).astype(float)
Q, K, V = project(words, W_Q, W_K, W_V)

# %% attention_matrices
def attend(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    a = softmax(s / np.sqrt(K.shape[-1]), axis=-1)
    return s, a, a @ V

scores, weights, attention = attend(Q, K, V)

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    _, weights, attention = attend(*project(words, W_Q, W_K, W_V))
    result = [attention, weights]
    return result

# %% [markdown] why_divide_answer
# Part 1: 0.236/0.007/0.749/0.007 (divided), 0.119/0.000/0.880/0.000 (not). Ratio exp(s3 - s1): 3.17 and 7.39.
# Part 2: no, monotone. All go to 0.25.
# Part 3: std sqrt(d_k), so 17 for d_k = 300. exp(17) is about 24 million, so it is a hard choice of one word.
