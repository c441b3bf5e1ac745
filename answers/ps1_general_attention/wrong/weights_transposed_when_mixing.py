"""The weights are right, but their transpose mixes the values.

Loses:
    test_attention_matrices: the attention of all words
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention_sizes: other sizes, and a single word
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
scores = Q @ K.T
weights = softmax(scores / np.sqrt(3), axis=1)
attention = weights.T @ V

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=1)
    attention = weights.T @ V
    return attention, weights
