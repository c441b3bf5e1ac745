"""Equation (4) unchanged: inf divided by inf for logits of 1000.

Loses:
    test_cross_entropy: logits of plus and minus 1000
Keeps:
    everything else
"""


# %% cross_entropy
def cross_entropy(logits, targets):
    powers = np.exp(logits)
    chances = powers / np.sum(powers, axis=1, keepdims=True)
    return -np.mean(np.log(chances[np.arange(len(targets)), targets]))


# %% [solution] *
