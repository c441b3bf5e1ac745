"""The small number stands inside of the root.

Loses:
    test_direction: other means and another eps
Keeps:
    everything else
"""

# %% direction
def direction(state, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m_hat = state["m"] / (1 - beta_1 ** state["t"])
    v_hat = state["v"] / (1 - beta_2 ** state["t"])
    return m_hat / np.sqrt(v_hat + eps)

# %% [solution] *
