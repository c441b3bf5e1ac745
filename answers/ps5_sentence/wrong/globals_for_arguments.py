"""The softmax was tried on a variable of its own and still reads that variable.

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
    test_attention: all outputs
    test_me: the output of me to full precision
    test_gusta: the output of gusta
Keeps:
    everything else
"""

# %% softmax
trial = np.array([1.0, 2.0, 3.0])

def softmax(x):
    e = np.exp(trial - np.max(trial))
    return e / np.sum(e)

# %% [solution] *
