"""The number of steps is counted in a global variable.

Loses:
    test_running_means: t
    test_running_means: other means, other shapes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% running_means
steps_so_far = 0


def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    global steps_so_far
    steps_so_far += 1
    m = beta_1 * state["m"] + (1 - beta_1) * gradient
    return {"t": steps_so_far, "m": m, "v": beta_2 * state["v"] + (1 - beta_2) * gradient**2}

# %% [solution] *
