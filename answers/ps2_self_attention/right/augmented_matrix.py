"""The bias as a column of the matrix, all projections in one product, softmax by logaddexp, all_x_prime an array."""

# %% queries_keys_values
W = np.block([[omega_q, beta_q], [omega_k, beta_k], [omega_v, beta_v]])
all_queries, all_keys, all_values = [], [], []
for x in all_x:
    q, k, v = np.split(W @ np.vstack([x, [[1.0]]]), 3)
    all_queries.append(q), all_keys.append(k), all_values.append(v)

# %% softmax
def softmax(items_in, axis=0):
    s = np.array(items_in, dtype=np.longdouble)
    return np.exp(s - np.logaddexp.reduce(s, axis=axis))

# %% attention_loop
all_x_prime = np.zeros((N, D, 1))
for n in range(N):
    attention = softmax([np.vdot(k, all_queries[n]) for k in all_keys])
    for m in range(N):
        all_x_prime[n] += float(attention[m]) * all_values[m]

# %% softmax_cols
def softmax_cols(data_in):
    return softmax(data_in)

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    D, N = np.shape(X)
    W = np.block([[omega_q, beta_q], [omega_k, beta_k], [omega_v, beta_v]])
    Q, K, V = np.split(W @ np.vstack([X, np.ones(N)]), 3)
    X_prime = V @ softmax_cols(K.T @ Q)
    assert X_prime.shape == (D, N)
    return X_prime

# %% [markdown] cost_answer
# (a) In the matrix of scores K^T Q, row m and column n. V A sums over m.
# (b) (i) with the bias as one more column it is 3ND(D + 1), without it 3ND^2. (ii) N^2 D. (iii) N^2 D. The loop does the same.
# (c) The first part doubles and the others grow fourfold; they cost more once N > 1.5 D (a bit more for my version).
