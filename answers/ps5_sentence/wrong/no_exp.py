"""The weights are the scores divided by their sum, without the exponential.

Loses:
    test_softmax: *
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

# %% softmax
def softmax(x):
    return x / np.sum(x, axis=-1, keepdims=True)

# %% [solution] *
