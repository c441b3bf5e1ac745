"""The weights of all words are called weight; the name weights still holds those of word 1.

Loses:
    test_attention_matrices: the shape of weights, and rows that sum to one
    test_attention_matrices: the weights of all words
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
scores = Q @ K.T
weight = softmax(scores / np.sqrt(3), axis=1)
attention = weight @ V
