"""A safe softmax first, then its logarithm: minus infinity where the probability is rounded to zero.

Loses:
    test_cross_entropy: logits of plus and minus 1000
Keeps:
    everything else
"""


# %% cross_entropy
def cross_entropy(logits, targets):
    chances = softmax(logits)
    return -np.mean(np.log(chances[np.arange(len(targets)), targets]))


# %% [solution] *
