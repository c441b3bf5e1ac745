"""The vectors stand in arrays of objects, which were made at their full length, and the matrices hold objects too."""

# %% queries_keys_values
all_queries, all_keys, all_values, all_x_prime = (np.empty(len(all_x), dtype=object) for _ in range(4))
for n, x in enumerate(all_x):
    all_queries[n] = beta_q + omega_q @ x
    all_keys[n] = beta_k + omega_k @ x
    all_values[n] = beta_v + omega_v @ x

# %% [solution] softmax

# %% attention_loop
all_x_prime = np.empty(len(all_x), dtype=object)
for n, query in enumerate(all_queries):
    attention = softmax([(key.T @ query).item() for key in all_keys])
    all_x_prime[n] = sum(weight * value for weight, value in zip(attention, all_values))

# %% softmax_cols
def softmax_cols(data_in):
    table = np.empty(np.shape(data_in), dtype=object)
    for column in range(table.shape[1]):
        powers = np.exp(data_in[:, column] - max(data_in[:, column]))
        table[:, column] = powers / sum(powers)
    return table

# %% [solution] *
