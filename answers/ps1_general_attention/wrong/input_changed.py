"""The function divides W_Q in place: asarray makes no copy of an array of floats.

Loses:
    test_general_attention: arguments left as they were, and used
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    W_Q = np.asarray(W_Q, dtype=float)
    W_Q /= np.sqrt(W_Q.shape[1])
    weights = softmax(words @ W_Q @ (words @ W_K).T, axis=1)
    return weights @ (words @ W_V), weights
