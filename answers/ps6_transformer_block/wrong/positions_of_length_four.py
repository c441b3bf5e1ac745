"""The exponent has the notebook's d_model in place of the argument, under another name.

Loses:
    test_positions_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    length = len(embeddings[0])
    P = np.zeros((N, d_model))
    for i in range(d_model // 2):
        angle = np.arange(N) / 10000 ** (2 * i / length)
        P[:, 2 * i], P[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return P
