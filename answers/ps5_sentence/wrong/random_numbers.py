"""The softmax gives other random numbers at every call; what is made of its weights follows from them.

Loses:
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
    test_me: the weights and the output of me
    test_me: the weights of me to full precision
    test_gusta: the weights of gusta
    test_attention: shapes, sums of the weights and last rows
    test_attention: all weights
Keeps:
    everything else
"""

# %% [solution] *

# %% softmax
def softmax(x):
    return np.random.default_rng().random(x.shape)
