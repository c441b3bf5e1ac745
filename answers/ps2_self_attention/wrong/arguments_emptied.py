"""Both softmaxes empty what they were given and answer with equal weights, which are right for what is left of it.

Loses:
    test_softmax: *
    test_softmax_large: *
    test_softmax_sizes: *
    test_softmax_cols: *
    test_softmax_cols_large: *
    test_softmax_cols_unchanged: *
    test_softmax_cols_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% softmax
def softmax(items_in):
    items_in[:] = [0.0] * len(items_in)
    return [1 / len(items_in)] * len(items_in)

# %% softmax_cols
def softmax_cols(data_in):
    data_in[...] = 0
    return np.full(data_in.shape, 1 / len(data_in))
