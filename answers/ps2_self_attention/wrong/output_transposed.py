"""self_attention returns one output per row instead of one per column.

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
    return (V @ softmax_cols(K.T @ Q)).T

# %% [solution] *
