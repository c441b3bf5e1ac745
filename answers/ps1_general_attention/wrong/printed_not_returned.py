"""The function prints attention and weights and returns nothing.

Loses:
    test_general_attention: *
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
    print(weights @ V)
    print(weights)
