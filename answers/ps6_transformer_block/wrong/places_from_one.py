"""Places are counted from 1.

Loses:
    test_positions: *
    test_positions_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    angles = np.arange(1, N + 1)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(N, d_model)
