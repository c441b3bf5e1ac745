"""The softmax runs along each row instead of down each column.

Loses:
    everything else
Keeps:
    test_self_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_self_attention: the result follows the arguments, and the arguments are left unchanged
    test_self_attention_sizes: a single input
    test_scaled_attention: a pair of real arrays, X_prime D_v x N and attentions N x N
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
    test_scaled_attention_sizes: a single input
    test_permuted: *
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    scores = K.T @ Q
    e = np.exp(scores - scores.max())
    attentions = e / e.sum(axis=1, keepdims=True)
    X_prime = V @ attentions
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    scores = K.T @ Q / np.sqrt(Q.shape[0])
    e = np.exp(scores - scores.max())
    attentions = e / e.sum(axis=1, keepdims=True)
    X_prime = V @ attentions
    return X_prime, attentions

# %% [markdown] why_equivariant_answer
# Without E the inputs are all treated in the same way, so their order plays no role.
# With E the order plays a role, because the encodings differ.
