"""No word may listen to itself, and the first one to nobody.

Loses:
    test_causal_mask: *
Keeps:
    everything else
"""

# %% [solution] *

# %% causal_mask
def causal_mask(N):
    return np.tril(np.ones((N, N)), -1) == 1
