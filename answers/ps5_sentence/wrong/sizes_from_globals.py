"""The softmax loops over the five words of the sentence, whatever its argument.

Loses:
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    if np.ndim(x) == 1:
        weights = np.zeros(len(words))
        for i in range(len(words)):
            weights[i] = np.exp(x[i] - max(x))
        return weights / sum(weights)
    weights = np.zeros((len(words), len(words)))
    for i in range(len(words)):
        weights[i] = softmax(x[i])
    return weights

# %% [solution] *
