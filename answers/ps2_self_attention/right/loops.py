"""Plain Python loops everywhere; softmax returns a list and uses the math module."""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    query = np.zeros((D, 1))
    key = np.zeros((D, 1))
    value = np.zeros((D, 1))
    for i in range(D):
        for j in range(D):
            query[i] += omega_q[i, j] * x[j]
            key[i] += omega_k[i, j] * x[j]
            value[i] += omega_v[i, j] * x[j]
        query[i] += beta_q[i]
        key[i] += beta_k[i]
        value[i] += beta_v[i]
    all_queries.append(query)
    all_keys.append(key)
    all_values.append(value)

# %% softmax
import math

def softmax(items_in):
    biggest = max(items_in)
    exps = []
    for item in items_in:
        exps.append(math.exp(item - biggest))
    total = sum(exps)
    return [e / total for e in exps]

# %% attention_loop
all_x_prime = []
for n in range(N):
    dots = []
    for m in range(N):
        dot_product = 0.0
        for i in range(D):
            dot_product += all_keys[m][i, 0] * all_queries[n][i, 0]
        dots.append(dot_product)
    attention = softmax(dots)
    x_prime = np.zeros((D, 1))
    for m in range(N):
        x_prime += attention[m] * all_values[m]
    all_x_prime.append(x_prime)

# %% softmax_cols
def softmax_cols(data_in):
    rows, cols = data_in.shape
    out = np.zeros((rows, cols))
    for c in range(cols):
        biggest = max(data_in[r, c] for r in range(rows))
        total = 0
        for r in range(rows):
            out[r, c] = math.exp(data_in[r, c] - biggest)
            total += out[r, c]
        for r in range(rows):
            out[r, c] /= total
    return out

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    D, N = X.shape
    Q = np.zeros((D, N))
    K = np.zeros((D, N))
    V = np.zeros((D, N))
    for n in range(N):
        for i in range(D):
            Q[i, n] = beta_q[i, 0]
            K[i, n] = beta_k[i, 0]
            V[i, n] = beta_v[i, 0]
            for j in range(D):
                Q[i, n] += omega_q[i, j] * X[j, n]
                K[i, n] += omega_k[i, j] * X[j, n]
                V[i, n] += omega_v[i, j] * X[j, n]
    scores = np.zeros((N, N))
    for m in range(N):
        for n in range(N):
            scores[m, n] = sum(K[i, m] * Q[i, n] for i in range(D))
    A = softmax_cols(scores)
    X_prime = np.zeros((D, N))
    for n in range(N):
        for m in range(N):
            for i in range(D):
                X_prime[i, n] += A[m, n] * V[i, m]
    return X_prime

# %% [markdown] cost_answer
# (a) s_mn is in row m and column n of K^T Q, because row m of K^T is the key k_m and column n of Q is the query q_n,
# and the product of a row and a column is their dot product. The sum over m is the product V times softmax_cols:
# column n of it is sum_m a_mn v_m.
#
# (b) From my loops you can read it off: (i) three statements in loops over N, D and D: 3ND^2. (ii) N*N scores with D
# multiplications each: N^2 D. (iii) loops over n, m, i: N^2 D. The matrix product does the same multiplications, only
# faster since NumPy does them in C.
#
# (c) (i) doubles, (ii) and (iii) are four times as much. 2N^2D > 3ND^2 if N > 1.5 D.
