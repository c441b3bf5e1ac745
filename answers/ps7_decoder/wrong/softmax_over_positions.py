"""The logarithm of the sum runs over the positions instead of the tokens.

Loses:
    test_cross_entropy: equal logits, and a small example
    test_cross_entropy: new random logits
    test_cross_entropy: logits of plus and minus 1000
    test_cross_entropy: other sizes, and targets at both ends
Keeps:
    everything else
"""


# %% cross_entropy
def cross_entropy(logits, targets):
    log_sums = np.logaddexp.reduce(logits, axis=0)
    return np.mean([log_sums[t] - row[t] for row, t in zip(logits, targets)])


# %% [solution] *
