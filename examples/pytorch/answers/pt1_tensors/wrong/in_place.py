"""X is changed in place.

Loses:
    test_standardise: X stays as it is
Keeps:
    everything else
"""

# %% [solution] *

# %% standardise
def standardise(X, eps=1e-5):
    X -= X.mean(0)
    X /= torch.sqrt((X ** 2).mean(0) + eps)
    return X
