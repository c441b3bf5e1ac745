"""v is a running mean of the gradient, not of its square.

Loses:
    test_running_means: v
    test_running_means: other means, other shapes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    m = beta_1 * state["m"] + (1 - beta_1) * gradient
    v = beta_2 * state["v"] + (1 - beta_2) * gradient
    return {"t": state["t"] + 1, "m": m, "v": v}

# %% [solution] *
