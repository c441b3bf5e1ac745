"""Every vector is flattened to shape (D,), and the biases are repeated with tile and repeat."""

# %% queries_keys_values
all_queries, all_keys, all_values = [], [], []
for x in all_x:
    x = x.flatten()
    all_queries.append(omega_q.dot(x) + beta_q.flatten())
    all_keys.append(omega_k.dot(x) + beta_k.flatten())
    all_values.append(omega_v.dot(x) + beta_v.flatten())

# %% softmax
def softmax(items_in):
    m = max(items_in)
    ex = [np.exp(i - m) for i in items_in]
    return np.array([e / sum(ex) for e in ex])

# %% attention_loop
all_x_prime = []
for n in range(N):
    dot_products = []
    for m in range(N):
        dot_products.append(np.dot(all_keys[m], all_queries[n]))
    attention = softmax(dot_products)
    x_prime = attention @ np.array(all_values)
    all_x_prime.append(x_prime)

# %% softmax_cols
def softmax_cols(data_in):
    shifted = data_in - np.tile(data_in.max(axis=0), (data_in.shape[0], 1))
    exp_values = np.exp(shifted)
    denom = np.sum(exp_values, axis=0)
    denom = np.tile(denom, (data_in.shape[0], 1))
    return exp_values / denom

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    n_inputs = X.shape[1]
    Q = np.repeat(beta_q, n_inputs, axis=1) + omega_q.dot(X)
    K = np.repeat(beta_k, n_inputs, axis=1) + omega_k.dot(X)
    V = np.tile(beta_v, (1, n_inputs)) + omega_v.dot(X)
    scores = K.T.dot(Q)
    weights = softmax_cols(scores)
    return V.dot(weights)

# %% [markdown] cost_answer
# (a) Entry m, n of K^T Q, because K^T has keys as rows and Q has queries as columns. Multiplying V with the weights adds up the
# columns of V, weighted by one column of weights for each output.
# (b) Each vector costs D^2, there are 3N: 3ND^2. Each score costs D, there are N^2: N^2 D. Each output costs ND: N^2 D in total.
# The number is equal in both, but a Python loop is slow.
# (c) (i) grows by 2, (ii) and (iii) by 4, and they cost more for N > 1.5 D.
