"""An exponential of its own, without taking off the maximum.

Loses:
    test_probabilities: logits of plus and minus 1000
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    powers = np.exp(logits / temperature)
    if top_k is not None:
        powers[np.argsort(logits)[:-top_k]] = 0
    return powers / np.sum(powers)


# %% [solution] *
