"""NaN is not a correct result, although it differs from every other value.

Loses:
    everything
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, *parameters):
    return np.full(X.shape, np.nan)
