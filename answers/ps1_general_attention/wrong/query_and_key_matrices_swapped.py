"""W_K makes the queries and W_Q the keys, in the word-by-word part only.

Loses:
    test_vectors: *
Keeps:
    everything else
"""

# %% [solution] *

# %% vectors
query_1, key_1, value_1 = word_1 @ W_K, word_1 @ W_Q, word_1 @ W_V
query_2, key_2, value_2 = word_2 @ W_K, word_2 @ W_Q, word_2 @ W_V
query_3, key_3, value_3 = word_3 @ W_K, word_3 @ W_Q, word_3 @ W_V
query_4, key_4, value_4 = word_4 @ W_K, word_4 @ W_Q, word_4 @ W_V
