"""Scores as Q^T K, a softmax along rows written inside self_attention, and one transpose at the end."""

# %% queries_keys_values
all_queries = [beta_q + omega_q @ x for x in all_x]
all_keys = [beta_k + omega_k @ x for x in all_x]
all_values = [beta_v + omega_v @ x for x in all_x]

# %% softmax
def softmax(items_in):
    items = np.array(items_in, dtype=float)
    return np.exp(items - items.max() - np.log(np.sum(np.exp(items - items.max()))))

# %% attention_loop
all_x_prime = []
for query in all_queries:
    attention = softmax([np.sum(query * key) for key in all_keys])
    all_x_prime.append(np.sum([a * v for a, v in zip(attention, all_values)], axis=0))

# %% softmax_cols
def softmax_cols(data_in):
    rows = data_in.transpose()
    rows = np.exp(rows - rows.max(axis=1)[:, None])
    return (rows / rows.sum(axis=1)[:, None]).transpose()

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q = (omega_q @ X + beta_q).transpose()
    K = (omega_k @ X + beta_k).transpose()
    V = (omega_v @ X + beta_v).transpose()
    S = Q @ K.transpose()
    E = np.exp(S - S.max(axis=1, keepdims=True))
    A = E / E.sum(axis=1, keepdims=True)
    return (A @ V).transpose()

# %% [markdown] cost_answer
# (a) I used the transposed matrices: the score of key m and query n is entry (n, m) of Q^T K, which is entry (m, n) of K^T Q in
# (8). The sum over m is inside the product of V with the weights, because a product of matrices sums over the inner index.
#
# (b) (i) each entry of Q takes D multiplications and there are ND of them, times three: 3ND^2. (ii) N^2 entries, D each: N^2 D.
# (iii) ND entries, N each: N^2 D. No difference between the two versions.
#
# (c) 2, 4, 4; N > 3D/2.
