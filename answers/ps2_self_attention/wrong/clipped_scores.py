"""Large scores are cut off at 700 in both softmaxes, so that scores beyond it become equal.

Loses:
    test_softmax_large: *
    test_softmax_cols_large: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    e = np.exp(np.clip(np.array(items_in), -700, 700))
    return e / e.sum()

# %% softmax_cols
def softmax_cols(data_in):
    e = np.exp(np.clip(data_in, -700, 700))
    return e / e.sum(axis=0)

# %% [solution] *
