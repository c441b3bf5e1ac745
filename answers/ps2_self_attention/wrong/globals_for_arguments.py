"""self_attention takes the parameters and inputs of the notebook instead of its arguments.

Loses:
    test_self_attention: equal scores give the mean of the values
    test_self_attention: new random numbers of the given sizes
    test_self_attention_unchanged: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% self_attention
def self_attention(inputs, w_v, w_q, w_k, b_v, b_q, b_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    return V @ softmax_cols(K.T @ Q)

# %% [solution] *
