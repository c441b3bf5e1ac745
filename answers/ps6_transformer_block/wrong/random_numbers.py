"""All layers give random numbers of the right shapes, others at every call.

Loses:
    test_attention: *
    test_attention_mask: *
    test_attention_sizes: *
    test_layer_norm: *
    test_layer_norm_sizes: *
    test_feed_forward: *
    test_feed_forward_sizes: *
    test_block: *
    test_block_parts: *
    test_block_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    return np.random.default_rng().random(X.shape), np.random.default_rng().random((len(W_q), len(X), len(X)))

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    return np.random.default_rng().random(X.shape)

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    return np.random.default_rng().random(X.shape)

# %% transformer_block
def transformer_block(X, block, mask=None):
    return np.random.default_rng().random(X.shape), np.random.default_rng().random((len(block['W_q']), len(X), len(X)))
