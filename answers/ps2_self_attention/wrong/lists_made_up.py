"""The lists of exercise 1 are made up so that the outputs need no attention: each query picks one value.

Loses:
    test_queries: *
    test_keys: *
    test_values: *
    test_attention_loop: *
    test_all_x_prime: *
Keeps:
    everything else
"""

# %% [solution] *

# %% queries_keys_values
all_queries = list(1000 * np.eye(N, D))
all_keys = list(np.eye(N, D))
all_values = [np.arange(D) + n for n in range(N)]

# %% attention_loop
all_x_prime = all_values
