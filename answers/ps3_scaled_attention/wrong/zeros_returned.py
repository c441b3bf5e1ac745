"""A pair of zeros of the right shapes, which no permutation changes.

Loses:
    everything
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.zeros((len(omega_v), X.shape[1])), np.zeros((X.shape[1], X.shape[1]))

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.zeros((len(omega_v), X.shape[1])), np.zeros((X.shape[1], X.shape[1]))
