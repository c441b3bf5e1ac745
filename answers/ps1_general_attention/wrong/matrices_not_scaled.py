"""All four words at once: the scores are not divided by the root of d_k.

Loses:
    test_attention_matrices: the weights of all words
Keeps:
    everything else
"""

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores, axis=1)
attention = weights @ V

# %% [solution] *
