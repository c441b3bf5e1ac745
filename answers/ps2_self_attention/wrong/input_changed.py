"""softmax_cols works in its argument, and self_attention writes the outputs over the inputs.

Loses:
    test_softmax_cols_unchanged: *
    test_self_attention_unchanged: *
Keeps:
    everything else
"""

# %% softmax_cols
def softmax_cols(data_in):
    data_in -= data_in.max(axis=0)
    np.exp(data_in, out=data_in)
    data_in /= data_in.sum(axis=0)
    return data_in

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = beta_q + omega_q @ X
    K = beta_k + omega_k @ X
    V = beta_v + omega_v @ X
    A = softmax_cols(K.T @ Q)
    for n in range(X.shape[1]):
        X[:, n] = V @ A[:, n]
    return X

# %% [solution] *
