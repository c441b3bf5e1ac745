"""The function takes the number of words and d_k from variables of the notebook.

Loses:
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
N, d_k = K.shape

def general_attention(words, W_Q, W_K, W_V):
    q = words @ W_Q
    k = words @ W_K
    v = words @ W_V
    weights = np.zeros((N, N))
    for n in range(N):
        weights[n] = softmax(q[n] @ k.T / np.sqrt(d_k))
    return weights @ v, weights
