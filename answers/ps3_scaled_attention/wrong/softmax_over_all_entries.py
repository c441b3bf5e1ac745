"""The softmax divides by the sum over all entries, so the whole matrix sums to one.

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
    exps = np.exp(scores - np.max(scores))
    attentions = exps / np.sum(exps)
    return V @ attentions, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    scores = K.T @ Q / np.sqrt(len(Q))
    exps = np.exp(scores - np.max(scores))
    attentions = exps / np.sum(exps)
    return V @ attentions, attentions
