"""All sines stand in the first half of the columns, all cosines in the second.

Loses:
    test_positions: *
    test_positions_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    angles = np.arange(N)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.hstack([np.sin(angles), np.cos(angles)])
