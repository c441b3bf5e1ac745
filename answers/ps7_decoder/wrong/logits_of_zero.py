"""The logits of the others are set to zero, not to minus infinity, so they keep a share.

Loses:
    test_probabilities: top-k
    test_probabilities: logits of plus and minus 1000
    test_probabilities: other sizes
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        scaled = np.where(scaled >= np.sort(scaled)[-top_k], scaled, 0.0)
    return softmax(scaled)


# %% [solution] *
