"""Dot products stay (1, 1) arrays, and softmax returns a Python list of what it was given."""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    query = np.matmul(omega_q, x) + beta_q
    key = np.matmul(omega_k, x) + beta_k
    value = np.matmul(omega_v, x) + beta_v
    all_queries.append(query)
    all_keys.append(key)
    all_values.append(value)

# %% softmax
def softmax(items_in):
    top = np.max(items_in)
    denominator = sum(np.exp(item - top) for item in items_in)
    items_out = []
    for item in items_in:
        items_out.append(np.exp(item - top) / denominator)
    return items_out

# %% attention_loop
all_x_prime = []
for n in range(N):
    all_km_qn = []
    for key in all_keys:
        dot_product = np.matmul(key.T, all_queries[n])
        all_km_qn.append(dot_product)
    attention = softmax(all_km_qn)
    print("attention for output", n, ":", attention)
    x_prime = sum(attention[m] * all_values[m] for m in range(len(all_values)))
    all_x_prime.append(x_prime)

# %% softmax_cols
def softmax_cols(data_in):
    out = np.zeros_like(data_in)
    for column in range(data_in.shape[1]):
        out[:, column] = softmax(list(data_in[:, column]))
    return out

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    queries = np.matmul(omega_q, X) + beta_q
    keys = np.matmul(omega_k, X) + beta_k
    values = np.matmul(omega_v, X) + beta_v
    attention = softmax_cols(np.matmul(keys.T, queries))
    X_prime = np.matmul(values, attention)
    return X_prime

# %% [markdown] cost_answer
# The score s_mn is the entry in row m and column n of K^T Q, since each entry of a matrix product is a row times a column.
# The sum over m is in the product of V and the attention.
#
# Queries, keys, values: 3 * N * D * D multiplications. Scores: N * N * D. Weighted sums: N * N * D. Same in both versions.
#
# The first doubles and the others quadruple. 2NND > 3NDD means 2N > 3D.
