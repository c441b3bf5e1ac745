"""Every argument is filled with zeros first, and the results are right for what is left of them.

Loses:
    test_attention: *
    test_attention_mask: *
    test_attention_sizes: *
    test_block: *
    test_block_parts: *
    test_block_sizes: *
    test_feed_forward: *
    test_feed_forward_sizes: *
    test_layer_norm: *
    test_layer_norm_sizes: *
Keeps:
    everything else
"""

# %% [solution] *

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    for array in (X, W_q, W_k, W_v, W_o):
        array[...] = 0
    scores = np.einsum("nd,hdk,hek,me->hnm", X, W_q, W_k, X) / np.sqrt(W_q.shape[2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.einsum("hij,jd,hdv,hve->ie", weights, X, W_v, W_o), weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    for array in (X, gamma, beta):
        array[...] = 0
    mean = X.mean(axis=1, keepdims=True)
    variance = X.var(axis=1, keepdims=True)
    return gamma * (X - mean) / np.sqrt(variance + eps) + beta

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    for array in (X, W_1, b_1, W_2, b_2):
        array[...] = 0
    return np.maximum(X @ W_1 + b_1, 0) @ W_2 + b_2

# %% transformer_block
def transformer_block(X, block, mask=None):
    for array in (X, *block.values()):
        array[...] = 0
    attended, weights = multihead_attention(
        layer_norm(X, block["gamma_1"], block["beta_1"]), block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    Z = X + attended
    fed = feed_forward(
        layer_norm(Z, block["gamma_2"], block["beta_2"]), block["W_1"], block["b_1"], block["W_2"], block["b_2"])
    return Z + fed, weights
