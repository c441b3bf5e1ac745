"""The correction changes the arrays of the state.

Loses:
    test_direction: the direction of two calls, and a state that stays as it was
Keeps:
    everything else
"""

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = state["m"], state["v"]
    m /= 1 - beta_1 ** state["t"]
    v /= 1 - beta_2 ** state["t"]
    return m / (np.sqrt(v) + eps)

# %% [solution] *
