"""The step goes up the hill.

Loses:
    test_adam_step: *
Keeps:
    everything else
"""

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    t = state["t"] + 1
    m = beta_1 * state["m"] + (1 - beta_1) * gradient
    v = beta_2 * state["v"] + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return parameter + rate * m_hat / (np.sqrt(v_hat) + eps), {"t": t, "m": m, "v": v}

# %% [solution] *
