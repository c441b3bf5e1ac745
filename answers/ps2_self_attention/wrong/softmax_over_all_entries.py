"""softmax_cols divides by the sum over all entries, not by the sum of each column.

Loses:
    test_softmax_cols: *
    test_softmax_cols_large: *
    test_softmax_cols_sizes: *
Keeps:
    everything else
"""

# %% softmax_cols
def softmax_cols(data_in):
    exp_values = np.exp(data_in - np.max(data_in, axis=0))
    return exp_values / np.sum(exp_values)

# %% [solution] *
