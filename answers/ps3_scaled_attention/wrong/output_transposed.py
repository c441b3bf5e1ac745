"""X_prime has one row per input instead of one column.

Loses:
    everything else
Keeps:
    test_self_attention: each column of attentions sums to one
    test_self_attention: new random numbers of the given sizes: attentions
    test_self_attention: the result follows the arguments, and the arguments are left unchanged
    test_scaled_attention: each column of attentions sums to one
    test_scaled_attention: new random numbers of the given sizes: attentions
    test_scaled_attention: the result follows the arguments, and the arguments are left unchanged
"""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    X_prime = (V @ attentions).T
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q / np.sqrt(Q.shape[0]))
    X_prime = (V @ attentions).T
    return X_prime, attentions

# %% [markdown] why_equivariant_answer
# Equivariant means the output does not change if you permute the input. This is the case here
# without positional encodings but not with them.
