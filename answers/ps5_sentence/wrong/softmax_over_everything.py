"""One softmax over all entries of the matrix. A single row is right.

Loses:
    test_softmax: *
    test_softmax_stable: *
    test_softmax_sizes: other sizes
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()

# %% [solution] *
