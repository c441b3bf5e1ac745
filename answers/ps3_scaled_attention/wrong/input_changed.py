"""The second function divides omega_q and beta_q in place, so the caller's arrays change.

Loses:
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
Keeps:
    everything else
"""

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    omega_q /= np.sqrt(omega_q.shape[0])
    beta_q /= np.sqrt(beta_q.shape[0])
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% [solution] *
