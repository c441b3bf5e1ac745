"""Top-k keeps the tokens with the smallest logits.

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
        scaled = np.where(scaled <= np.sort(scaled)[top_k - 1], scaled, -np.inf)
    return softmax(scaled)


# %% [solution] *
