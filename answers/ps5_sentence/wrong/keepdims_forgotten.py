"""The sums of the rows are a flat vector, so each column is divided by a sum that is not its own.
Single rows are right.

Loses:
    test_softmax: *
    test_softmax_stable: large scores in rows that lie far apart
    test_softmax_sizes: other sizes
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1)

# %% [solution] *
