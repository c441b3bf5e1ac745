"""The function divides by the square root of the length of a word: W_K.shape[0] for W_K.shape[1].

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
    weights = softmax(Q @ K.T / np.sqrt(W_K.shape[0]), axis=1)
    return weights @ V, weights
