"""Adam's running means are not corrected.

Loses:
    test_adam_step: *
Keeps:
    everything else
"""

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m = beta_1 * state["m"] + (1 - beta_1) * gradient
    v = beta_2 * state["v"] + (1 - beta_2) * gradient**2
    return parameter - rate * m / (np.sqrt(v) + eps), {"t": state["t"] + 1, "m": m, "v": v}

# %% [solution] *
