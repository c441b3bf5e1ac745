"""beta_1 goes with the squares, beta_2 with the gradient.

Loses:
    test_running_means: m
    test_running_means: v
    test_running_means: other means, other shapes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    m = beta_2 * state["m"] + (1 - beta_2) * gradient
    v = beta_1 * state["v"] + (1 - beta_1) * gradient**2
    return {"t": state["t"] + 1, "m": m, "v": v}

# %% [solution] *
