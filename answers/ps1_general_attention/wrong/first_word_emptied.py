"""The first row of each argument is set to zero once the result is computed.

Loses:
    test_general_attention: arguments left as they were, and used
Keeps:
    everything else
"""

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    Q, K, V = words @ W_Q, words @ W_K, words @ W_V
    weights = softmax(Q @ K.T / np.sqrt(K.shape[1]), axis=1)
    attention = weights @ V
    for array in (words, W_Q, W_K, W_V):
        array[0] = 0
    return attention, weights

# %% [solution] *
