"""The softmax subtracts the maximum of the whole matrix, so rows far below it become nan.

Loses:
    test_softmax_stable: large scores in rows that lie far apart
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e, axis=-1, keepdims=True)

# %% [solution] *
