"""std divides by N - 1.

Loses:
    test_standardise: a small table
    test_standardise: new random numbers
Keeps:
    everything else
"""

# %% [solution] *

# %% standardise
def standardise(X, eps=1e-5):
    return (X - X.mean(0)) / (X.std(0) + eps)
