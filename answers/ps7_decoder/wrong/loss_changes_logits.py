"""The maximum is taken off in place, so the caller's logits change.

Loses:
    test_cross_entropy: the logits stay as they were
Keeps:
    everything else
"""


# %% cross_entropy
def cross_entropy(logits, targets):
    logits -= np.max(logits, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(logits), axis=1))
    return np.mean(log_sums - logits[np.arange(len(targets)), targets])


# %% [solution] *
