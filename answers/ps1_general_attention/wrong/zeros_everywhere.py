"""Zeros of the right shapes in place of every result: one follows from the other.

Loses:
    everything else
Keeps:
    test_weights_word_1: four positive weights that sum to one
"""

# %% vectors
query_1 = query_2 = query_3 = query_4 = np.zeros(3)
key_1 = key_2 = key_3 = key_4 = value_1 = value_2 = value_3 = value_4 = np.zeros(3)

# %% scores_word_1
scores = np.zeros(4)

# %% weights_word_1
weights = np.full(4, 0.25)

# %% attention_word_1
attention = np.zeros(3)

# %% matrices
words, Q, K, V = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3))

# %% attention_matrices
scores = np.zeros((4, 4))
weights = np.full((4, 4), 0.25)
attention = np.zeros((4, 3))

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    return np.zeros((len(words), W_V.shape[1])), np.full((len(words), len(words)), 1 / len(words))
