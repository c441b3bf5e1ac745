"""One column at a time with a softmax over a flat list; the bias is tiled or repeated."""

# %% self_attention
def softmax(items):
    largest = max(items)
    exps = [np.exp(item - largest) for item in items]
    return [e / sum(exps) for e in exps]


def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    n_inputs = np.size(X, 1)
    Q = np.dot(omega_q, X) + np.tile(beta_q, (1, n_inputs))
    K = np.dot(omega_k, X) + np.repeat(beta_k, n_inputs, axis=1)
    V = np.dot(omega_v, X) + np.tile(beta_v, n_inputs)
    columns = []
    for n in range(n_inputs):
        scores = [np.dot(K[:, m], Q[:, n]) for m in range(n_inputs)]
        columns.append(softmax(scores))
    attentions = np.array(columns).T
    outputs = [sum(attentions[m, n] * V[:, m] for m in range(n_inputs)) for n in range(n_inputs)]
    X_prime = np.stack(outputs, axis=1)
    return X_prime, attentions

# %% scaled_dot_product_self_attention
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    n_inputs = np.size(X, 1)
    Q = np.dot(omega_q, X) + np.tile(beta_q, (1, n_inputs))
    K = np.dot(omega_k, X) + np.repeat(beta_k, n_inputs, axis=1)
    V = np.dot(omega_v, X) + np.tile(beta_v, n_inputs)
    columns = []
    for n in range(n_inputs):
        scores = [np.dot(K[:, m], Q[:, n]) / np.sqrt(Q[:, n].size) for m in range(n_inputs)]
        columns.append(softmax(scores))
    attentions = np.array(columns).T
    outputs = [sum(attentions[m, n] * V[:, m] for m in range(n_inputs)) for n in range(n_inputs)]
    X_prime = np.stack(outputs, axis=1)
    return X_prime, attentions

# %% [markdown] why_equivariant_answer
# If the inputs are permuted, then queries, keys and values are permuted in the same way, because
# (1) to (3) work on each column separately. Every output is a weighted sum over all the values and
# the weights belong to the pairs, so the same output appears in the new column.
#
# With positional encodings no. e_n stays in place n. Therefore a permuted input gets other
# encodings and the weights change. A sentence with its words in another order can now mean
# something else to the network.
