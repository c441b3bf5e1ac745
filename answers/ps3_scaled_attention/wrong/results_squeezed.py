"""A single input gives a flat X_prime and a bare number, not matrices.

Loses:
    test_self_attention_sizes: a single input
    test_scaled_attention_sizes: a single input
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return (V @ attentions).squeeze(), attentions.squeeze()

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(K.shape[0]))
    return (V @ attentions).squeeze(), attentions.squeeze()
