"""The correction is that of the first step, in every step.

Loses:
    test_direction: later steps
    test_direction: other means and another eps
    test_direction: the direction of two calls, and a state that stays as it was
Keeps:
    everything else
"""

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return state["m"] / (1 - beta_1) / (np.sqrt(state["v"] / (1 - beta_2)) + eps)

# %% [solution] *
