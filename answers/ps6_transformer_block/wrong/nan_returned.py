"""NaN is not a correct result, although it differs from every other value.

Loses:
    everything
"""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    return np.full((N, d_model), np.nan)

# %% causal_mask
def causal_mask(N):
    return np.full((N, N), np.nan)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    return np.full(X.shape, np.nan), np.full((len(W_q), len(X), len(X)), np.nan)

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    return np.full(X.shape, np.nan)

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return np.full(X.shape, np.nan)

# %% transformer_block
def transformer_block(X, block, mask=None):
    return np.full(X.shape, np.nan), np.full((len(block["W_q"]), len(X), len(X)), np.nan)
