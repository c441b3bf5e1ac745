"""The parameters of self_attention stand in the order queries, keys, values.

Loses:
    test_self_attention: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_q, omega_k, omega_v, beta_q, beta_k, beta_v):
    return (beta_v + omega_v @ X) @ softmax_cols((beta_k + omega_k @ X).T @ (beta_q + omega_q @ X))

# %% [solution] *
