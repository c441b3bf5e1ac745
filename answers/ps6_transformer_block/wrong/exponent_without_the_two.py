"""Each column has an angle of its own: its number stands in the exponent, and not that of its pair.

Loses:
    test_positions: *
    test_positions_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    P = np.zeros((N, d_model))
    for n in range(N):
        for i in range(d_model):
            P[n, i] = np.sin(n / 10000 ** (i / d_model)) if i % 2 == 0 else np.cos(n / 10000 ** (i / d_model))
    return P
