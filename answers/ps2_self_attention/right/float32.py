"""Computes in single precision."""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    x32 = x.astype(np.float32)
    all_queries.append(omega_q.astype(np.float32) @ x32 + beta_q.astype(np.float32))
    all_keys.append(omega_k.astype(np.float32) @ x32 + beta_k.astype(np.float32))
    all_values.append(omega_v.astype(np.float32) @ x32 + beta_v.astype(np.float32))
print(all_queries[0].dtype)

# %% softmax
def softmax(items_in):
    s = np.array(items_in, dtype=np.float32).reshape(-1)
    s = s - np.max(s)
    e = np.exp(s)
    return e / np.sum(e)

# %% attention_loop
all_x_prime = []
for n in range(N):
    s = [np.dot(all_keys[m].T, all_queries[n]) for m in range(N)]
    attention = softmax(s)
    x_prime = np.zeros((D, 1), dtype=np.float32)
    for m in range(N):
        x_prime += attention[m] * all_values[m]
    all_x_prime.append(x_prime)

# %% softmax_cols
def softmax_cols(data_in):
    s = data_in.astype(np.float32)
    e = np.exp(s - s.max(axis=0))
    return e / e.sum(axis=0)

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k = [
        np.float32(a) for a in (X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k)
    ]
    Q = omega_q @ X + beta_q
    K = omega_k @ X + beta_k
    V = omega_v @ X + beta_v
    return np.matmul(V, softmax_cols(np.matmul(K.T, Q)))

# %% [markdown] cost_answer
# (a) It is the entry (m, n) of K^T Q. The sum over m happens in V times the weights.
# (b) (i) O(ND^2) (ii) O(N^2 D) (iii) O(N^2 D). The matrix version needs the same operations but uses vector instructions.
# (c) 2, 4 and 4 times. When N is bigger than about D.
