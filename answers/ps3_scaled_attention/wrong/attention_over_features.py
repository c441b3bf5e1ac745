"""The scores are Q K^T, a matrix over features: X_prime has the right shape, wrong numbers.

Loses:
    everything else
Keeps:
    test_self_attention: the result follows the arguments, and the arguments are left unchanged
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
    test_permuted: *
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(Q @ K.T)
    X_prime = attentions @ V
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(Q @ K.T / np.sqrt(Q.shape[0]))
    X_prime = attentions @ V
    return X_prime, attentions
