"""softmax subtracts the mean of the scores instead of the largest one, which still overflows.

Loses:
    test_softmax_large: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    items = np.array(items_in) - np.mean(items_in)
    return np.exp(items) / np.sum(np.exp(items))

# %% [solution] *
