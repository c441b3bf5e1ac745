"""General attention gives other random numbers at every call.

Loses:
    test_general_attention: *
    test_general_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% general_attention
def general_attention(words, W_Q, W_K, W_V):
    return np.random.default_rng().random((len(words), W_V.shape[1])), np.random.default_rng().random((len(words), len(words)))
