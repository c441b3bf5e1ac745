"""The softmax gives other random numbers at every call; what is made of its weights follows from them.

Loses:
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% softmax
def softmax(x):
    return np.random.default_rng().random(x.shape)
