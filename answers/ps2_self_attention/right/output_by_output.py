"""self_attention goes over the columns and reuses the list softmax of exercise 2, a nested function and a stack."""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []

def affine(omega, beta, x):
    return np.tensordot(omega, x, axes=1) + beta

for x in all_x:
    all_queries.append(affine(omega_q, beta_q, x))
    all_keys.append(affine(omega_k, beta_k, x))
    all_values.append(affine(omega_v, beta_v, x))

# %% softmax
def softmax(items_in):
    """numerically stable"""
    arr = np.array(items_in).squeeze()
    arr = np.atleast_1d(arr)
    arr -= arr.max()
    np.exp(arr, out=arr)
    arr /= arr.sum()
    return arr.tolist()

# %% attention_loop
all_x_prime = []
for n in range(N):
    x_prime = 0
    all_km_qn = [float(np.dot(key.ravel(), all_queries[n].ravel())) for key in all_keys]
    attention = softmax(all_km_qn)
    for a, v in zip(attention, all_values):
        x_prime = x_prime + a * v
    all_x_prime += [x_prime]

# %% softmax_cols
def softmax_cols(data_in):
    return np.column_stack([softmax(list(column)) for column in data_in.T])

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    def columns(omega, beta):
        return [omega @ X[:, [n]] + beta for n in range(X.shape[1])]

    queries, keys, values = columns(omega_q, beta_q), columns(omega_k, beta_k), columns(omega_v, beta_v)
    outputs = []
    for q in queries:
        a = softmax([(k.T @ q)[0, 0] for k in keys])
        outputs.append(sum(weight * v for weight, v in zip(a, values)))
    return np.concatenate(outputs, axis=1)

# %% [markdown] cost_answer
# (a) Row m and column n of K transposed times Q. The sum is hidden in V times the softmax.
#
# (b) (i) 3ND^2 because matrix times vector is D^2; (ii) N^2 D; (iii) N^2 D. With matrices it is fewer because there is no loop.
#
# (c) The first one doubles. The scores are four times as many and so are the weighted sums. N > 1.5D.
