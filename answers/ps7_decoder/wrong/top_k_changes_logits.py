"""Minus infinity is written into the caller's logits.

Loses:
    test_probabilities: the logits stay as they were
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    if top_k is not None:
        logits[np.argsort(logits)[:-top_k]] = -np.inf
    return softmax(logits / temperature)


# %% [solution] *
