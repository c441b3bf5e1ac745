"""A copied line was not changed: query_4 is the query of word 3.

Loses:
    test_vectors: queries, keys and values of words 2, 3 and 4
Keeps:
    everything else
"""

# %% [solution] *

# %% vectors
query_1 = word_1 @ W_Q
query_2 = word_2 @ W_Q
query_3 = word_3 @ W_Q
query_4 = word_3 @ W_Q
key_1 = word_1 @ W_K
key_2 = word_2 @ W_K
key_3 = word_3 @ W_K
key_4 = word_4 @ W_K
value_1 = word_1 @ W_V
value_2 = word_2 @ W_V
value_3 = word_3 @ W_V
value_4 = word_4 @ W_V
