"""Positions and mask are there, the rest is left as released.

Loses:
    test_attention: *
    test_attention_mask: *
    test_attention_sizes: *
    test_layer_norm: *
    test_layer_norm_sizes: *
    test_feed_forward: *
    test_feed_forward_sizes: *
    test_block: *
    test_block_parts: *
    test_block_sizes: *
Keeps:
    everything else
"""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    P = np.zeros((N, d_model))
    for i in range(0, d_model, 2):
        angle = np.arange(N) / 10000 ** (i / d_model)
        P[:, i], P[:, i + 1] = np.sin(angle), np.cos(angle)
    return P

# %% causal_mask
def causal_mask(N):
    return np.tri(N, dtype=bool)

# %% [markdown] why_these_parts_answer
# The residual connections keep what a word is. Only attention mixes words.
