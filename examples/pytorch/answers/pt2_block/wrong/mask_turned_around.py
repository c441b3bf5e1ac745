"""Words listen to later ones.

Loses:
    test_causal_mask: *
    test_heads: the mask
    test_heads: a batch, and other sizes
    test_block: as in NumPy
Keeps:
    everything else
"""

# %% [solution] *

# %% causal_mask
def causal_mask(N):
    return torch.ones(N, N, dtype=torch.bool).triu()
