"""self_attention ignores the three biases.

Loses:
    test_self_attention: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = omega_q @ X
    K = omega_k @ X
    V = omega_v @ X
    return V @ softmax_cols(K.T @ Q)

# %% [solution] *
