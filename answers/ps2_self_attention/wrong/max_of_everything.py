"""softmax_cols subtracts the largest entry of the whole matrix, so that a column of very negative scores becomes 0/0.

Loses:
    test_softmax_cols_large: *
Keeps:
    everything else
"""

# %% softmax_cols
def softmax_cols(data_in):
    e = np.exp(data_in - np.max(data_in))
    return e / e.sum(axis=0)

# %% [solution] *
