"""self_attention divides the scores by the square root of D, which was not asked.

Loses:
    test_self_attention: the outputs for the given inputs, with their shape
    test_self_attention: new random numbers of the given sizes
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    return V @ softmax_cols(K.T @ Q / np.sqrt(X.shape[0]))

# %% [solution] *
