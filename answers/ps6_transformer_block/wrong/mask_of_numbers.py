"""The mask holds 1.0 and 0.0.

Loses:
    test_causal_mask: the mask of five words
Keeps:
    everything else
"""

# %% [solution] *

# %% causal_mask
def causal_mask(N):
    return np.tril(np.ones((N, N)))
