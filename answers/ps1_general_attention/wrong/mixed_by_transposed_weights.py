"""All four words at once: the weights are transposed when they mix the values.

Loses:
    test_attention_matrices: the attention of all words
Keeps:
    everything else
"""

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores / np.sqrt(K.shape[1]), axis=1)
attention = weights.T @ V

# %% [solution] *
