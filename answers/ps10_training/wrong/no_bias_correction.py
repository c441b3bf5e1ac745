"""The means are used as they are.

Loses:
    test_direction: *
Keeps:
    everything else
"""

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return state["m"] / (np.sqrt(state["v"]) + eps)

# %% [solution] *
