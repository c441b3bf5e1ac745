"""The function divides by the square root of 3, whatever the length of a key.

Loses:
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
    weights = softmax(Q @ K.T / 3 ** 0.5, axis=1)
    return weights @ V, weights
