"""Words kept as rows of shape 1x3, scores as a 1x4 row, everything joined with np.vstack and np.hstack."""

# %% vectors
word_1 = word_1.reshape(1, 3)
word_2 = word_2.reshape(1, 3)
word_3 = word_3.reshape(1, 3)
word_4 = word_4.reshape(1, 3)

query_1 = word_1.dot(W_Q)
key_1 = word_1.dot(W_K)
value_1 = word_1.dot(W_V)
query_2 = word_2.dot(W_Q)
key_2 = word_2.dot(W_K)
value_2 = word_2.dot(W_V)
query_3 = word_3.dot(W_Q)
key_3 = word_3.dot(W_K)
value_3 = word_3.dot(W_V)
query_4 = word_4.dot(W_Q)
key_4 = word_4.dot(W_K)
value_4 = word_4.dot(W_V)
print(query_1.shape)

# %% scores_word_1
score_11 = query_1.dot(key_1.T)
score_12 = query_1.dot(key_2.T)
score_13 = query_1.dot(key_3.T)
score_14 = query_1.dot(key_4.T)
scores = np.hstack([score_11, score_12, score_13, score_14])
print(scores.shape)

# %% weights_word_1
d_k = key_1.shape[1]
weights = softmax(scores / np.sqrt(d_k), axis=1)

# %% attention_word_1
attention = weights.dot(np.vstack([value_1, value_2, value_3, value_4]))

# %% matrices
words = np.vstack([word_1, word_2, word_3, word_4])
Q = np.vstack([query_1, query_2, query_3, query_4])
K = np.vstack([key_1, key_2, key_3, key_4])
V = np.vstack([value_1, value_2, value_3, value_4])

# %% attention_matrices
scores = Q.dot(K.T)
weights = softmax(scores / np.sqrt(d_k), axis=1)
attention = weights.dot(V)

# %% general_attention
def general_attention(x, wq, wk, wv):
    outputs = []
    rows = []
    k = x.dot(wk)
    v = x.dot(wv)
    for n in range(x.shape[0]):
        q = x[n:n + 1].dot(wq)
        row = softmax(q.dot(k.T) / np.sqrt(wk.shape[1]), axis=1)
        rows.append(row)
        outputs.append(row.dot(v))
    return np.vstack(outputs), np.vstack(rows)

# %% [markdown] why_divide_answer
# The scores of word 1 are 8, 2, 10, 2. Without the division the weights are 0.119, 0.000, 0.880, 0.000, and with
# the division 0.236, 0.007, 0.749, 0.007. Since both weights are divided by the same sum, word 3 gets
# exp(10)/exp(8) = 7.39 times as much as word 1, and exp(5.774)/exp(4.619) = 3.17 times with the division.
# The largest weight is still the one of word 3 since dividing keeps the order. A huge divisor gives 0.25 each.
# d_k terms of variance one add up to variance d_k, standard deviation sqrt(d_k), about 17.3 for 300. Then one
# word would have all of the weight.
