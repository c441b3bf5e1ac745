"""Plain Python loops everywhere: no matrix product, sums written out, lists turned into arrays last."""

# %% vectors
def times(x, W):
    out = []
    for col in range(W.shape[1]):
        total = 0
        for row in range(len(x)):
            total += x[row] * W[row, col]
        out.append(total)
    return np.array(out)

query_1 = times(word_1, W_Q)
query_2 = times(word_2, W_Q)
query_3 = times(word_3, W_Q)
query_4 = times(word_4, W_Q)
key_1 = times(word_1, W_K)
key_2 = times(word_2, W_K)
key_3 = times(word_3, W_K)
key_4 = times(word_4, W_K)
value_1 = times(word_1, W_V)
value_2 = times(word_2, W_V)
value_3 = times(word_3, W_V)
value_4 = times(word_4, W_V)

# %% scores_word_1
scores = []
for key in [key_1, key_2, key_3, key_4]:
    s = 0
    for i in range(3):
        s += query_1[i] * key[i]
    scores.append(s)
scores = np.array(scores)
print(scores)

# %% weights_word_1
weights = []
for s in scores:
    weights.append(np.exp(s / 3 ** 0.5))
total = sum(weights)
weights = [w / total for w in weights]
print(weights)

# %% attention_word_1
attention = np.zeros(3)
for w, v in zip(weights, [value_1, value_2, value_3, value_4]):
    for i in range(3):
        attention[i] += w * v[i]
attention

# %% matrices
words = np.array([word_1, word_2, word_3, word_4])
Q = np.zeros((4, 3))
K = np.zeros((4, 3))
V = np.zeros((4, 3))
for i in range(4):
    Q[i] = times(words[i], W_Q)
    K[i] = times(words[i], W_K)
    V[i] = times(words[i], W_V)

# %% attention_matrices
scores = np.zeros((4, 4))
for i in range(4):
    for j in range(4):
        for m in range(3):
            scores[i, j] += Q[i, m] * K[j, m]

weights = np.zeros((4, 4))
for i in range(4):
    weights[i] = softmax(scores[i] / 3 ** 0.5)

attention = np.zeros((4, 3))
for i in range(4):
    for j in range(4):
        attention[i] += weights[i, j] * V[j]

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    n = len(words)
    d_k = len(W_K[0])
    d_v = len(W_V[0])
    q = [times(w, W_Q) for w in words]
    k = [times(w, W_K) for w in words]
    v = [times(w, W_V) for w in words]
    weights = np.zeros((n, n))
    attention = np.zeros((n, d_v))
    for i in range(n):
        for j in range(n):
            weights[i, j] = sum(q[i][m] * k[j][m] for m in range(d_k)) / d_k ** 0.5
        weights[i] = softmax(weights[i])
        for j in range(n):
            attention[i] += weights[i, j] * v[j]
    return attention, weights

# %% [markdown] why_divide_answer
# 1. With the division I get 0.236, 0.007, 0.749, 0.007 and without it 0.119, 0.000, 0.880, 0.000.
# The ratio of word 3 to word 1 is exp(10)/exp(8) = exp(2) = 7.39, because the sum in the denominator
# is the same for both. With the division it is exp(2/1.732) = 3.17.
#
# 2. No. If one score is larger than another it is still larger after dividing both by the same positive
# number, and exp is increasing. With large divisors all scores go to 0, so all weights go to 1/4.
#
# 3. The score is a sum of d_k products with variance 1, so its standard deviation is sqrt(d_k). For 300 that
# is about 17, and the softmax would give nearly everything to one word.
