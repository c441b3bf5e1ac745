"""Pure Python on nested lists, which are also what comes back; the functions are lambdas."""

# %% self_attention
def attention_of_lists(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k, scaled):
    columns = X.T.tolist()

    def project(omega, beta):
        rows = list(zip(omega.tolist(), beta.ravel().tolist()))
        return [[sum(w * x for w, x in zip(row, c)) + b for row, b in rows] for c in columns]

    queries, keys = project(omega_q, beta_q), project(omega_k, beta_k)
    values = project(omega_v, beta_v)
    weights = []
    for q in queries:
        scores = [sum(a * b for a, b in zip(q, k)) / (len(q) ** 0.5 if scaled else 1) for k in keys]
        exps = [np.e ** (score - max(scores)) for score in scores]
        weights.append([e / sum(exps) for e in exps])
    outputs = [[sum(a * v[i] for a, v in zip(w, values)) for w in weights]
               for i in range(len(values[0]))]
    return outputs, [list(row) for row in zip(*weights)]


self_attention = lambda *arguments: attention_of_lists(*arguments, False)

# %% scaled_dot_product_self_attention
scaled_dot_product_self_attention = lambda *arguments: attention_of_lists(*arguments, True)

# %% [markdown] why_equivariant_answer
# It is not, since the places have encodings of their own, so moving a word changes its vector.
# Before, only the set of vectors counted: every output is a weighted sum over all inputs.
