"""NaN is no other result, although it differs from everything.

Loses:
    everything
"""

# %% multihead_scaled_self_attention
def multihead_scaled_self_attention(X, *parameters):
    return np.full(X.shape, np.nan)
