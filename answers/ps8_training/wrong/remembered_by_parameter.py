"""A step that was made before from the same parameter is returned again, whatever the gradient is now.

Loses:
    test_adam_step: parameters take turns, and nothing is changed in place
Keeps:
    everything else
"""

# %% adam_step
remembered = {}

def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    key = parameter.tobytes(), parameter.shape, state["t"], rate, beta_1, beta_2, eps
    if key not in remembered:
        t = state["t"] + 1
        m = beta_1 * state["m"] + (1 - beta_1) * gradient
        v = beta_2 * state["v"] + (1 - beta_2) * gradient**2
        m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
        remembered[key] = parameter - rate * m_hat / (np.sqrt(v_hat) + eps), {"t": t, "m": m, "v": v}
    moved, new = remembered[key]
    return moved.copy(), {"t": new["t"], "m": new["m"].copy(), "v": new["v"].copy()}

# %% [solution] *
