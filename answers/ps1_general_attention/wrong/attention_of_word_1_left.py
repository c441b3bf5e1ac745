"""All four words at once: the last line is left out, so attention is that of word 1.

Loses:
    test_attention_matrices: the attention of all words
Keeps:
    everything else
"""

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores / np.sqrt(K.shape[1]), axis=1)

# %% [solution] *
