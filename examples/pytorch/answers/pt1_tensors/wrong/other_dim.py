"""Each row is reduced, along dim 1.

Loses:
    test_standardise: a small table
    test_standardise: new random numbers
Keeps:
    everything else
"""

# %% [solution] *

# %% standardise
def standardise(X, eps=1e-5):
    centred = X - X.mean(dim=1, keepdim=True)
    return centred / torch.sqrt((centred ** 2).mean(dim=1, keepdim=True) + eps)
