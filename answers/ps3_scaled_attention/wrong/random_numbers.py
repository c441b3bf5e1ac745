"""Pairs of random numbers of the right shapes, others at every call.

Loses:
    everything
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.random.default_rng().random((len(omega_v), X.shape[1])), np.random.default_rng().random((X.shape[1], X.shape[1]))

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    return np.random.default_rng().random((len(omega_v), X.shape[1])), np.random.default_rng().random((X.shape[1], X.shape[1]))
