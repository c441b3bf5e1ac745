"""Queries and keys come from the arguments, but the weights mix the V of exercise 3.

Loses:
    test_general_attention: attention for new random numbers
    test_general_attention: the words in another order
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    q = words @ W_Q
    k = words @ W_K
    weights = softmax(q @ k.T / np.sqrt(k.shape[1]), axis=1)
    attention = weights @ V
    return attention, weights
