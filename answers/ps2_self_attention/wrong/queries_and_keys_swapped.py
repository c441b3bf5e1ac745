"""self_attention computes the scores as Q^T K instead of K^T Q.

Loses:
    test_self_attention: the outputs for the given inputs, with their shape
    test_self_attention: new random numbers of the given sizes
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + np.matmul(omega_q, X)
    K = beta_k + np.matmul(omega_k, X)
    V = beta_v + np.matmul(omega_v, X)
    return np.matmul(V, softmax_cols(np.matmul(Q.T, K)))

# %% [solution] *
