"""words is stacked with the words as columns (3x4), so Q, K and V do not come about.

Loses:
    test_matrices: *
Keeps:
    everything else
"""

# %% [solution] *

# %% matrices
words = np.column_stack([word_1, word_2, word_3, word_4])
Q = words @ W_Q
K = words @ W_K
V = words @ W_V
