"""The weights of a matrix with one row come back flat, not in the shape of the argument.

Loses:
    test_softmax_sizes: a single row
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return (e / np.sum(e, axis=-1, keepdims=True)).squeeze()

# %% [solution] *
