"""A word listens to itself and to the four words before it only.

Loses:
    test_causal_mask: other numbers of words
"""

# %% causal_mask
def causal_mask(N):
    return np.tril(np.ones((N, N), dtype=bool)) & ~np.tril(np.ones((N, N), dtype=bool), -5)

# %% [solution] *
