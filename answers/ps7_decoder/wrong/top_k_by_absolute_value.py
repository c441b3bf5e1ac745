"""Top-k keeps the logits that are farthest from zero, so very negative ones, too.

Loses:
    test_probabilities: top-k
    test_probabilities: logits of plus and minus 1000
    test_probabilities: other sizes
"""

# %% next_probabilities
def next_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        kept = np.argsort(np.abs(logits))[-top_k:]
        masked = np.full(len(logits), -np.inf)
        masked[kept] = scaled[kept]
        scaled = masked
    return softmax(scaled)

# %% [solution] *
