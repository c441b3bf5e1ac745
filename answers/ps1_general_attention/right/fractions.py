"""Queries, keys, values and scores are fractions, exact until the softmax; so the outputs are arrays of objects."""

# %% vectors
from fractions import Fraction


def exactly(word, matrix):
    return np.array([sum(Fraction(int(x)) * int(m) for x, m in zip(word, column)) for column in matrix.T])


all_words = (word_1, word_2, word_3, word_4)
query_1, query_2, query_3, query_4 = [exactly(word, W_Q) for word in all_words]
key_1, key_2, key_3, key_4 = [exactly(word, W_K) for word in all_words]
value_1, value_2, value_3, value_4 = [exactly(word, W_V) for word in all_words]

# %% scores_word_1
scores = np.array([query_1 @ key for key in (key_1, key_2, key_3, key_4)])

# %% weights_word_1
weights = softmax(scores.astype(float) / len(key_1) ** 0.5)

# %% attention_word_1
attention = sum(weight * value.astype(float) for weight, value in zip(weights, (value_1, value_2, value_3, value_4)))
attention = np.array([Fraction(number) for number in attention])

# %% [solution] *
