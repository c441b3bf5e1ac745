"""SciPy's softmax is called without axis on the matrix: all sixteen weights share one sum.

Loses:
    test_attention_matrices: the shape of weights, and rows that sum to one
    test_attention_matrices: the weights of all words
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores / np.sqrt(3))
attention = weights @ V

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]))
    return weights @ V, weights
