"""The results are rounded to three decimals, which the text asks not to do.

Loses:
    everything else
Keeps:
    test_self_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_self_attention: the result follows the arguments, and the arguments are left unchanged
    test_scaled_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
    test_permuted: *
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return np.round(V @ attentions, 3), np.round(attentions, 3)

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(Q.shape[0]))
    return np.round(V @ attentions, 3), np.round(attentions, 3)
