"""The points are summed, not the coordinates.

Loses:
    test_distances: *
Keeps:
    everything else
"""

# %% [solution] *

# %% distances
def distances(A, B):
    return torch.sqrt(((A[:, None, :] - B[None, :, :]) ** 2).sum(dim=1))
