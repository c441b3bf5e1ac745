"""Random numbers of the right shape, others at every call.

Loses:
    everything
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, *parameters):
    return np.random.default_rng().random(X.shape)
