"""New names for the results of all words: scores, weights and attention still hold those of word 1.

Loses:
    test_attention_matrices: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
all_scores = Q @ K.T
all_weights = softmax(all_scores / np.sqrt(3), axis=1)
all_attention = all_weights @ V
