"""The maximum is subtracted only when a score is larger than 700, so very negative scores still give 0/0.

Loses:
    test_softmax_large: *
    test_softmax_cols_large: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    s = np.array(items_in)
    if s.max() > 700:
        s = s - s.max()
    return np.exp(s) / np.sum(np.exp(s))

# %% softmax_cols
def softmax_cols(data_in):
    s = data_in
    if s.max() > 700:
        s = s - s.max(axis=0)
    return np.exp(s) / np.sum(np.exp(s), axis=0)

# %% [solution] *
