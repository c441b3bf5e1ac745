"""Plain loops over outputs, inputs and features; lists become arrays at the end."""

# %% self_attention
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    num_inputs = X.shape[1]
    queries, keys, values = [], [], []
    for n in range(num_inputs):
        x = X[:, n:n + 1]
        queries.append(omega_q @ x + beta_q)
        keys.append(omega_k @ x + beta_k)
        values.append(omega_v @ x + beta_v)
    attentions = np.zeros((num_inputs, num_inputs))
    X_prime = np.zeros((omega_v.shape[0], num_inputs))
    for n in range(num_inputs):
        scores = np.zeros((num_inputs, 1))
        for m in range(num_inputs):
            for i in range(len(queries[n])):
                scores[m, 0] += keys[m][i, 0] * queries[n][i, 0]
        a = softmax_cols(scores)
        for m in range(num_inputs):
            attentions[m, n] = a[m, 0]
            X_prime[:, n] += a[m, 0] * values[m][:, 0]
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    num_inputs = X.shape[1]
    queries, keys, values = [], [], []
    for n in range(num_inputs):
        x = X[:, n:n + 1]
        queries.append(omega_q @ x + beta_q)
        keys.append(omega_k @ x + beta_k)
        values.append(omega_v @ x + beta_v)
    attentions = np.zeros((num_inputs, num_inputs))
    X_prime = np.zeros((omega_v.shape[0], num_inputs))
    for n in range(num_inputs):
        scores = np.zeros((num_inputs, 1))
        for m in range(num_inputs):
            for i in range(len(queries[n])):
                scores[m, 0] += keys[m][i, 0] * queries[n][i, 0]
        a = softmax_cols(scores / np.sqrt(len(queries[n])))
        for m in range(num_inputs):
            attentions[m, n] = a[m, 0]
            X_prime[:, n] += a[m, 0] * values[m][:, 0]
    return X_prime, attentions

# %% [markdown] why_equivariant_answer
# Without E each input goes through the same omega and beta, it does not matter in which column it
# is. The score of a key and a query only depends on the two vectors. Then we sum over all inputs
# and a sum does not care about the order. So if I swap columns of X the outputs are swapped too.
#
# With E it is not equivariant any more. The encoding belongs to the place, not to the word, so a
# word which moves from place 1 to place 2 gets e_2 instead of e_1 and has a different query, key
# and value. This is good because the meaning of a sentence depends on the order of the words.
