"""Q.T @ K compares features, not words: a 3x3 map, applied to V from the right.

Loses:
    test_attention_matrices: *
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention: the words in another order
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_matrices
scores = Q.T @ K
weights = softmax(scores / np.sqrt(3), axis=1)
attention = V @ weights

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q.T @ K / np.sqrt(K.shape[1]), axis=1)
    return V @ weights, weights
