"""Q, K and V are computed once outside of the functions, which ignore their arguments.

Loses:
    everything else
Keeps:
    test_self_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_self_attention: each column of attentions sums to one
    test_self_attention: the given example
    test_scaled_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the given example
"""

# %% self_attention
Q = beta_q + omega_q @ X
K = beta_k + omega_k @ X
V = beta_v + omega_v @ X


def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    attentions = softmax_cols(K.T @ Q / np.sqrt(D))
    return V @ attentions, attentions
