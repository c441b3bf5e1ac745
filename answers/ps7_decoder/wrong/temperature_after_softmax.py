"""The probabilities are divided by the temperature and made to sum to one again, which undoes it.

Loses:
    test_probabilities: other temperatures
    test_probabilities: top-k
    test_probabilities: logits of plus and minus 1000
    test_probabilities: other sizes
Keeps:
    everything else
"""


# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    if top_k is not None:
        logits = np.where(logits >= np.sort(logits)[-top_k], logits, -np.inf)
    warm = softmax(logits) / temperature
    return warm / np.sum(warm)


# %% [solution] *
