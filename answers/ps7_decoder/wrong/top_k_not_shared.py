"""The probabilities of the others are set to zero, and what is kept does not sum to one.

Loses:
    test_probabilities: top-k
    test_probabilities: logits of plus and minus 1000
    test_probabilities: other sizes
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    chances = softmax(logits / temperature)
    if top_k is not None:
        chances[np.argsort(logits)[:-top_k]] = 0
    return chances


# %% [solution] *
