"""In the lists of exercise 1 every vector gets the queries' bias.

Loses:
    test_keys: *
    test_values: *
Keeps:
    everything else
"""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    query = beta_q + np.matmul(omega_q, x)
    key = beta_q + np.matmul(omega_k, x)
    value = beta_q + np.matmul(omega_v, x)
    all_queries.append(query)
    all_keys.append(key)
    all_values.append(value)

# %% [solution] *
