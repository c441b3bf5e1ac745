"""Words, queries and results are pandas series and frames, whose columns a single index picks."""

# %% vectors
import pandas as pd

frame = pd.DataFrame([np.ravel(word) for word in (word_1, word_2, word_3, word_4)], index=list("abcd"))
tables = {name: frame @ pd.DataFrame(matrix) for name, matrix in {"q": W_Q, "k": W_K, "v": W_V}.items()}
query_1, query_2, query_3, query_4 = (tables["q"].loc[letter] for letter in "abcd")
key_1, key_2, key_3, key_4 = (tables["k"].loc[letter] for letter in "abcd")
value_1, value_2, value_3, value_4 = (tables["v"].loc[letter] for letter in "abcd")

# %% scores_word_1
scores = pd.Series([query_1.dot(key) for key in (key_1, key_2, key_3, key_4)])

# %% weights_word_1
weights = pd.Series(powers := np.exp(scores / (d_k := len(key_1)) ** 0.5)) / powers.sum()

# %% attention_word_1
attention = sum(weight * value for weight, value in zip(weights, (value_1, value_2, value_3, value_4)))

# %% matrices
words, Q, K, V = frame, tables["q"], tables["k"], tables["v"]

# %% attention_matrices
scores = Q @ K.T
weights = (scores / 3**0.5).apply(np.exp).pipe(lambda table: table.div(table.sum(axis=1), axis=0))
attention = weights @ V


# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    q, k, v = (pd.DataFrame(words) @ pd.DataFrame(matrix) for matrix in (W_Q, W_K, W_V))
    scores = q @ k.T / np.sqrt(k.shape[1])
    powers = scores.sub(scores.max(axis=1), axis=0).apply(np.exp)
    weights = powers.div(powers.sum(axis=1), axis=0)
    return weights @ v, weights

# %% [solution] *
