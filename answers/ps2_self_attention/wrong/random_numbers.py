"""The functions give other random numbers at every call, which leave their arguments as they are.

Loses:
    test_softmax: *
    test_softmax_large: *
    test_softmax_sizes: *
    test_softmax_cols: *
    test_softmax_cols_large: *
    test_softmax_cols_unchanged: *
    test_softmax_cols_sizes: *
    test_self_attention: *
    test_self_attention_unchanged: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% softmax
def softmax(items_in):
    return np.random.default_rng().random(len(items_in))

# %% softmax_cols
def softmax_cols(data_in):
    return np.random.default_rng().random(data_in.shape)

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.random.default_rng().random(X.shape)
