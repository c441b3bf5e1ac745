"""Each word may listen to later ones.

Loses:
    test_causal_mask: *
Keeps:
    everything else
"""

# %% [solution] *

# %% causal_mask
def causal_mask(N):
    return np.triu(np.ones((N, N), dtype=bool))
