"""self_attention returns the outputs together with the attention.

Loses:
    test_self_attention: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attention = softmax_cols(K.T @ Q)
    X_prime = V @ attention
    return X_prime, attention

# %% [solution] *
