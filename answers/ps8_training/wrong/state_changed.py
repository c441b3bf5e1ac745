"""The state is changed in place and returned.

Loses:
    test_adam_step: parameters take turns, and nothing is changed in place
Keeps:
    everything else
"""

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    state["t"] += 1
    state["m"] = beta_1 * state["m"] + (1 - beta_1) * gradient
    state["v"] = beta_2 * state["v"] + (1 - beta_2) * gradient**2
    m_hat, v_hat = state["m"] / (1 - beta_1 ** state["t"]), state["v"] / (1 - beta_2 ** state["t"])
    return parameter - rate * m_hat / (np.sqrt(v_hat) + eps), state

# %% [solution] *
