"""Queries are computed with the keys' parameters and keys with the queries' parameters; all else is right.

Loses:
    test_queries: *
    test_keys: *
Keeps:
    everything else
"""

# %% queries_keys_values
all_queries = []
all_keys = []
all_values = []
for x in all_x:
    all_queries.append(beta_k + omega_k @ x)
    all_keys.append(beta_q + omega_q @ x)
    all_values.append(beta_v + omega_v @ x)

# %% [solution] *
