"""Multiplies X.T by omega, as if inputs were rows: the shapes do not fit.

Loses:
    everything
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, omega_v1, omega_q1, omega_k1, beta_v1, beta_q1, beta_k1,
                                    omega_v2, omega_q2, omega_k2, beta_v2, beta_q2, beta_k2,
                                    omega_c):
    V1, Q1, K1 = X.T @ omega_v1 + beta_v1, X.T @ omega_q1 + beta_q1, X.T @ omega_k1 + beta_k1
    V2, Q2, K2 = X.T @ omega_v2 + beta_v2, X.T @ omega_q2 + beta_q2, X.T @ omega_k2 + beta_k2
    A1 = softmax_cols(K1.T @ Q1 / np.sqrt(Q1.shape[0]))
    A2 = softmax_cols(K2.T @ Q2 / np.sqrt(Q2.shape[0]))
    return omega_c @ np.vstack((V1 @ A1, V2 @ A2))
