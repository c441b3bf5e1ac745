"""The largest of all logits is taken off, so rows far below it underflow.

Loses:
    test_cross_entropy: logits of plus and minus 1000
Keeps:
    everything else
"""


# %% cross_entropy
def cross_entropy(logits, targets):
    shifted = logits - np.max(logits)
    log_sums = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_sums - shifted[np.arange(len(targets)), targets])


# %% [solution] *
