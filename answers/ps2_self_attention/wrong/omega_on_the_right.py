"""Rows and columns mixed up: X^T omega, so the weights are transposed and the inputs are rows.

Loses:
    test_self_attention: the outputs for the given inputs, with their shape
    test_self_attention: new random numbers of the given sizes
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = X.T @ omega_q + beta_q.T
    K = X.T @ omega_k + beta_k.T
    V = X.T @ omega_v + beta_v.T
    return V.T @ softmax_cols(K @ Q.T)

# %% [solution] *
