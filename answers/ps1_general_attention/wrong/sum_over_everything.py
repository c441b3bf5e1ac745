"""np.sum without axis adds up all entries of the weighted values: one number for word 1.

Loses:
    test_attention_word_1: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_word_1
attention = np.sum(weights[:, None] * np.array([value_1, value_2, value_3, value_4]))
