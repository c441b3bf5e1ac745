"""Their own softmax on lists, under a name that hides SciPy's; Python lists as results wherever they do."""

# %% vectors
query_1, query_2, query_3, query_4 = [list(w @ W_Q) for w in (word_1, word_2, word_3, word_4)]
key_1, key_2, key_3, key_4 = [list(w @ W_K) for w in (word_1, word_2, word_3, word_4)]
value_1, value_2, value_3, value_4 = [list(w @ W_V) for w in (word_1, word_2, word_3, word_4)]

# %% scores_word_1
def dot(a, b):
    return sum(x * y for x, y in zip(a, b))

scores = [dot(query_1, key_1), dot(query_1, key_2), dot(query_1, key_3), dot(query_1, key_4)]

# %% weights_word_1
def softmax(items):
    top = max(items)
    e = [np.exp(i - top) for i in items]
    return [i / sum(e) for i in e]

weights = softmax([s / np.sqrt(len(key_1)) for s in scores])

# %% attention_word_1
attention = [dot(weights, column) for column in zip(value_1, value_2, value_3, value_4)]

# %% matrices
words = [word_1, word_2, word_3, word_4]
Q = [query_1, query_2, query_3, query_4]
K = [key_1, key_2, key_3, key_4]
V = [value_1, value_2, value_3, value_4]

# %% attention_matrices
scores = [[dot(q, k) for k in K] for q in Q]
weights = [softmax([s / np.sqrt(len(K[0])) for s in row]) for row in scores]
attention = [[dot(row, column) for column in zip(*V)] for row in weights]

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = []
    for q in Q:
        weights.append(softmax([dot(q, k) / len(k) ** 0.5 for k in K]))
    attention = [np.array(w) @ V for w in weights]
    return np.array(attention), np.array(weights)

# %% [markdown] why_divide_answer
# I get 0.236, 0.007, 0.749, 0.007 with the division, and 0.119, 0.000, 0.880, 0.000 without. The ratio goes from
# 7.39 down to 3.17. That is exp(2) and exp(2 / sqrt(3)), because a3/a1 = exp(s3)/exp(s1).
# The order of the weights stays. When dividing by more and more every exp is exp(0) = 1 and so each weight is a quarter.
# The variance of a score is d_k. For d_k = 300 nearly all weight would sit on one word.
