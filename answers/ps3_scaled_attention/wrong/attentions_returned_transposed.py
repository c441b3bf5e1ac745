"""X_prime is right, but attentions comes back with a row per output.

Loses:
    test_self_attention: each column of attentions sums to one
    test_self_attention: the given example
    test_self_attention: new random numbers of the given sizes: attentions
    test_self_attention_sizes: other sizes
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the given example
    test_scaled_attention: new random numbers of the given sizes: attentions
    test_scaled_attention_sizes: other sizes
Keeps:
    everything else
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions.T

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(K.shape[0]))
    return V @ attentions, attentions.T
