"""The parameter is changed in place.

Loses:
    test_adam_step: parameters take turns, and nothing is changed in place
Keeps:
    everything else
"""

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    t = state["t"] + 1
    m = beta_1 * state["m"] + (1 - beta_1) * gradient
    v = beta_2 * state["v"] + (1 - beta_2) * gradient**2
    parameter -= rate * (m / (1 - beta_1**t)) / (np.sqrt(v / (1 - beta_2**t)) + eps)
    return parameter, {"t": t, "m": m, "v": v}

# %% [solution] *
