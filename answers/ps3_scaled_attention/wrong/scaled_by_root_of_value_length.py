"""The scores are divided by the square root of the length of a value.

Loses:
    test_scaled_attention_sizes: other sizes
Keeps:
    everything else
"""

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(V.shape[0]))
    return V @ attentions, attentions

# %% [solution] *
