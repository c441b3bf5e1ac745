"""The first function is called self_atention, so nothing finds it.

Loses:
    test_self_attention: *
    test_self_attention_sizes: *
    test_permuted: self_attention: permuted inputs give permuted outputs
Keeps:
    everything else
"""

# %% self_attention
def self_atention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    attentions = softmax_cols(K.T @ Q)
    return V @ attentions, attentions

# %% [solution] *
