"""The root is forgotten.

Loses:
    test_distances: *
Keeps:
    everything else
"""

# %% [solution] *

# %% distances
def distances(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(dim=-1)
