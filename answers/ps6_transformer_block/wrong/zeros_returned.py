"""Zeros of the right shapes.

Loses:
    everything
"""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    return np.zeros((N, d_model))

# %% causal_mask
def causal_mask(N):
    return np.zeros((N, N), dtype=bool)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    return np.zeros(X.shape), np.zeros((len(W_q), len(X), len(X)))

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    return np.zeros(X.shape)

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return np.zeros(X.shape)

# %% transformer_block
def transformer_block(X, block, mask=None):
    return np.zeros(X.shape), np.zeros((len(block["W_q"]), len(X), len(X)))
