"""The softmax was tried on a variable of its own and still reads that variable.

Loses:
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% softmax
trial = np.array([1.0, 2.0, 3.0])

def softmax(x):
    e = np.exp(trial - np.max(trial))
    return e / np.sum(e)

# %% [solution] *
