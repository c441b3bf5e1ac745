"""Single precision from the first line on, with np.matmul."""

# %% vectors
f = np.float32
query_1 = np.matmul(word_1.astype(f), W_Q.astype(f))
query_2 = np.matmul(word_2.astype(f), W_Q.astype(f))
query_3 = np.matmul(word_3.astype(f), W_Q.astype(f))
query_4 = np.matmul(word_4.astype(f), W_Q.astype(f))

key_1 = np.matmul(word_1.astype(f), W_K.astype(f))
key_2 = np.matmul(word_2.astype(f), W_K.astype(f))
key_3 = np.matmul(word_3.astype(f), W_K.astype(f))
key_4 = np.matmul(word_4.astype(f), W_K.astype(f))

value_1 = np.matmul(word_1.astype(f), W_V.astype(f))
value_2 = np.matmul(word_2.astype(f), W_V.astype(f))
value_3 = np.matmul(word_3.astype(f), W_V.astype(f))
value_4 = np.matmul(word_4.astype(f), W_V.astype(f))

# %% scores_word_1
scores = np.array([np.dot(query_1, key_1), np.dot(query_1, key_2),
                   np.dot(query_1, key_3), np.dot(query_1, key_4)], dtype=np.float32)

# %% weights_word_1
weights = softmax(scores / np.float32(np.sqrt(3)))

# %% attention_word_1
attention = weights[0] * value_1 + weights[1] * value_2 + weights[2] * value_3 + weights[3] * value_4

# %% matrices
words = np.array([word_1, word_2, word_3, word_4], dtype=np.float32)
Q = np.matmul(words, W_Q.astype(f))
K = np.matmul(words, W_K.astype(f))
V = np.matmul(words, W_V.astype(f))

# %% attention_matrices
scores = np.matmul(Q, np.transpose(K))
weights = softmax(scores / np.float32(np.sqrt(3)), axis=1)
attention = np.matmul(weights, V)
print(attention.dtype)

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    words, W_Q, W_K, W_V = (np.asarray(a, dtype=np.float32) for a in (words, W_Q, W_K, W_V))
    Q = np.matmul(words, W_Q)
    K = np.matmul(words, W_K)
    V = np.matmul(words, W_V)
    d_k = np.float32(K.shape[1])
    weights = softmax(np.matmul(Q, np.transpose(K)) / np.sqrt(d_k), axis=1)
    return np.matmul(weights, V), weights

# %% [markdown] why_divide_answer
# with: .236 .007 .749 .007, without: .119 .000 .880 .000
# ratio 3.17 with, 7.39 without (I divided the weights).
# The biggest stays the biggest. It becomes more even.
# Scores grow like sqrt(d_k).
