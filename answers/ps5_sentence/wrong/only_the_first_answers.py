"""Positions and projections are filled in, the rest is left as released.

Loses:
    test_softmax: *
    test_softmax_argument: *
    test_softmax_stable: *
    test_softmax_sizes: *
    test_me: *
    test_gusta: *
    test_matrices: *
    test_attention: *
Keeps:
    everything else
"""

# %% [solution] add_positions

# %% [solution] project_words

# %% [markdown] why_uniform_answer
# The weights are random.
