"""The arrays in the old state are changed in place.

Loses:
    test_running_means: m
    test_running_means: v
    test_running_means: other means, other shapes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% running_means
def running_means(gradient, state, beta_1=0.9, beta_2=0.999):
    state["m"] *= beta_1
    state["m"] += (1 - beta_1) * gradient
    state["v"] *= beta_2
    state["v"] += (1 - beta_2) * gradient**2
    return {**state, "t": state["t"] + 1}

# %% [solution] *
