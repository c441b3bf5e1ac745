"""The array that holds the weights of softmax_cols is one of integers, so each weight below 1 becomes 0.

Loses:
    test_softmax_cols: *
    test_softmax_cols_large: *
    test_softmax_cols_sizes: *
Keeps:
    everything else
"""

# %% softmax_cols
def softmax_cols(data_in):
    weights = np.zeros(data_in.shape, dtype=int)
    for column in range(data_in.shape[1]):
        powers = np.exp(data_in[:, column] - np.max(data_in[:, column]))
        weights[:, column] = powers / np.sum(powers)
    return weights

# %% [solution] *
