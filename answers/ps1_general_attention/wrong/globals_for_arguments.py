"""The function has other parameter names, but computes with the notebook's words and matrices.

Loses:
    test_general_attention: attention for new random numbers
    test_general_attention: weights for new random numbers
    test_general_attention: the words in another order
    test_general_attention: arguments left as they were, and used
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(x, w1, w2, w3):
    q = words @ W_Q
    k = words @ W_K
    v = words @ W_V
    a = softmax(q @ k.T / np.sqrt(k.shape[1]), axis=1)
    return a @ v, a
