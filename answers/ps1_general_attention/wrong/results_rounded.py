"""Both results are rounded to three decimals, as the notebook prints them.

Loses:
    test_general_attention: the four words of this notebook
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q, K, V = words @ W_Q, words @ W_K, words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=1)
    return np.round(weights @ V, 3), np.round(weights, 3)

# %% [solution] *
