"""The weights are the scores divided by their sum, without the exponential.

Loses:
    test_softmax: *
    test_softmax_stable: *
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    return x / np.sum(x, axis=-1, keepdims=True)

# %% [solution] *
