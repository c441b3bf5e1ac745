"""The lists of exercise 1 multiply matrix and input entry by entry, which gives matrices.

Loses:
    test_queries: *
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
    query = omega_q * x + beta_q
    key = omega_k * x + beta_k
    value = omega_v * x + beta_v
    all_queries.append(query)
    all_keys.append(key)
    all_values.append(value)

# %% [solution] *
