"""The softmax does not divide by the sum; weights and outputs that follow from it count.

Loses:
    test_softmax: *
    test_softmax_stable: *
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    return np.exp(x - np.max(x, axis=-1, keepdims=True))

# %% [solution] *
