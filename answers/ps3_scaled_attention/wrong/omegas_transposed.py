"""Rows and columns are mixed up: X.T @ omega applies the transpose of each map.

Loses:
    everything else
Keeps:
    test_self_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_self_attention: each column of attentions sums to one
    test_self_attention: the result follows the arguments, and the arguments are left unchanged
    test_scaled_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
    test_permuted: *
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q.T + X.T @ omega_q
    K = beta_k.T + X.T @ omega_k
    V = beta_v.T + X.T @ omega_v
    attentions = softmax_cols(K @ Q.T)
    X_prime = V.T @ attentions
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q.T + X.T @ omega_q
    K = beta_k.T + X.T @ omega_k
    V = beta_v.T + X.T @ omega_v
    attentions = softmax_cols(K @ Q.T / np.sqrt(Q.shape[1]))
    X_prime = V.T @ attentions
    return X_prime, attentions
