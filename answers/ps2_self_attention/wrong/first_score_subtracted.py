"""The first score is subtracted in both softmaxes, not the largest, so an exponential overflows.

Loses:
    test_softmax_large: *
    test_softmax_cols_large: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    exponentials = np.exp(np.array(items_in) - items_in[0])
    return exponentials / np.sum(exponentials)

# %% softmax_cols
def softmax_cols(data_in):
    exponentials = np.exp(data_in - data_in[0])
    return exponentials / np.sum(exponentials, axis=0)

# %% [solution] *
