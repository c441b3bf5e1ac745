"""The function returns (weights, attention).

Loses:
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention: the words in another order
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q = words @ W_Q
    K = words @ W_K
    V = words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=1)
    return weights, weights @ V
