"""The weights are divided by the root, after the softmax.

Loses:
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: the given example
    test_scaled_attention: new random numbers of the given sizes: attentions
    test_scaled_attention: new random numbers of the given sizes: X_prime
    test_scaled_attention_sizes: *
Keeps:
    everything else
"""

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q) / np.sqrt(Q.shape[0])
    return V @ attentions, attentions

# %% [solution] *
