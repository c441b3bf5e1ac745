"""The bias times a row of ones, np.dot everywhere, and parameters with other names."""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    all_queries.append(np.add(beta_q, np.dot(omega_q, x)))
    all_keys.append(np.add(beta_k, np.dot(omega_k, x)))
    all_values.append(np.add(beta_v, np.dot(omega_v, x)))

# %% softmax
def softmax(scores_list):
    a = np.array(scores_list, dtype=float).reshape(-1, 1)
    a = np.exp(a - max(a))
    return a / sum(a)

# %% attention_loop
all_x_prime = []
for n in range(N):
    all_km_qn = []
    for k in all_keys:
        dot_product = k.T.dot(all_queries[n])[0][0]
        all_km_qn.append(dot_product)
    attention = softmax(all_km_qn)
    # the values side by side, times the column of weights
    x_prime = np.hstack(all_values).dot(attention)
    all_x_prime.append(x_prime)
    print("x_prime", n)
    print(x_prime.T)

# %% softmax_cols
def softmax_cols(A):
    A = A - np.ones((A.shape[0], 1)).dot(A.max(axis=0, keepdims=True))
    A = np.exp(A)
    column_sums = np.ones((1, A.shape[0])).dot(A)
    return A / column_sums

# %% self_attention
def self_attention(X_in, Wv, Wq, Wk, bv, bq, bk):
    ones = np.ones((1, X_in.shape[1]))
    Q = np.dot(bq, ones) + np.dot(Wq, X_in)
    K = np.dot(bk, ones) + np.dot(Wk, X_in)
    V = np.dot(bv, ones) + np.dot(Wv, X_in)
    unused = X_in.shape[0]
    return np.dot(V, softmax_cols(np.dot(K.T, Q)))

# %% [markdown] cost_answer
# a) row m, column n of K^T Q. V times softmax is the sum.
# b) 3ND^2, N^2D, N^2D. The same.
# c) doubles, quadruples, quadruples. From N = 1.5D.
