"""The exponential of equation (3) unchanged: inf divided by inf for scores of 1000.

Loses:
    test_softmax_stable: *
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)

# %% [solution] *
