"""The softmax subtracts the maximum in place, so the caller's scores change.

Loses:
    test_softmax_argument: *
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    x -= np.max(x, axis=-1, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)

# %% [solution] *
