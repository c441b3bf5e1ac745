"""The losses of the positions are added up, not averaged.

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
    highest = np.max(logits, axis=1)
    log_sums = highest + np.log(np.sum(np.exp(logits - highest[:, None]), axis=1))
    return np.sum(log_sums - logits[np.arange(len(targets)), targets])


# %% [solution] *
