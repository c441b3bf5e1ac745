"""All three functions take N and D of the notebook instead of the sizes of their arguments.

Loses:
    test_softmax_sizes: *
    test_softmax_cols_sizes: *
    test_self_attention_sizes: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    m = max(items_in)
    e = np.zeros(N)
    for i in range(N):
        e[i] = np.exp(items_in[i] - m)
    return e / sum(e)

# %% softmax_cols
def softmax_cols(data_in):
    out = np.zeros((N, N))
    for n in range(N):
        out[:, n] = np.exp(data_in[:, n] - max(data_in[:, n]))
        out[:, n] = out[:, n] / np.sum(out[:, n])
    return out

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    ones = np.ones((1, N))
    Q = beta_q @ ones + omega_q @ X
    K = beta_k @ ones + omega_k @ X
    V = beta_v @ ones + omega_v @ X
    attention = softmax_cols(K.T @ Q)
    X_prime = np.zeros((D, N))
    for n in range(N):
        X_prime[:, n] = V @ attention[:, n]
    return X_prime

# %% [solution] *
