"""Each function gives back what it was given.

Loses:
    everything
"""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    return np.eye(N, d_model)

# %% causal_mask
def causal_mask(N):
    return np.eye(N, dtype=bool)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    return X, np.stack([np.eye(len(X))] * len(W_q))

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    return X

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return X

# %% transformer_block
def transformer_block(X, block, mask=None):
    return X, np.stack([np.eye(len(X))] * len(block["W_q"]))
