"""The functions take queries, keys, values; the text asks for values, queries, keys.

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
def self_attention(X, omega_q, omega_k, omega_v, beta_q, beta_k, beta_v):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_q, omega_k, omega_v, beta_q, beta_k, beta_v):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(Q.shape[0]))
    return V @ attentions, attentions
