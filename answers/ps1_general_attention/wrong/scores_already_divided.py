"""scores holds the divided scores; the weights that follow are right.

Loses:
    test_scores_word_1: *
    test_attention_matrices: the shape of scores, and the row of word 2
Keeps:
    everything else
"""

# %% [solution] *

# %% scores_word_1
scores = np.array([query_1 @ key for key in (key_1, key_2, key_3, key_4)]) / np.sqrt(3)

# %% weights_word_1
weights = softmax(scores)

# %% attention_matrices
scores = Q @ K.T / np.sqrt(3)
weights = softmax(scores, axis=1)
attention = weights @ V
