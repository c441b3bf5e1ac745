"""A copy of X to which both halves are added in place; other arrays of the dictionary by unpacking."""

# %% [solution] *

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    H, d_model, d_k = W_q.shape
    # All heads in one large product, as in many libraries
    queries = (X @ W_q.transpose(1, 0, 2).reshape(d_model, -1)).reshape(len(X), H, -1).transpose(1, 0, 2)
    keys = (X @ W_k.transpose(1, 0, 2).reshape(d_model, -1)).reshape(len(X), H, -1).transpose(1, 0, 2)
    values = (X @ W_v.transpose(1, 0, 2).reshape(d_model, -1)).reshape(len(X), H, -1).transpose(1, 0, 2)
    scores = queries @ keys.transpose(0, 2, 1)
    scores /= d_k ** 0.5
    if mask is not None:
        scores = np.ma.array(scores, mask=np.broadcast_to(~mask, scores.shape)).filled(-np.inf)
    weights = softmax(scores)
    side_by_side = (weights @ values).transpose(1, 0, 2).reshape(len(X), -1)
    return side_by_side @ W_o.reshape(-1, d_model), weights

# %% transformer_block
def transformer_block(X, block, mask=None):
    gamma_1, beta_1, W_q, W_k, W_v, W_o, gamma_2, beta_2, W_1, b_1, W_2, b_2 = (
        block[key] for key in "gamma_1 beta_1 W_q W_k W_v W_o gamma_2 beta_2 W_1 b_1 W_2 b_2".split())
    stream = np.array(X, dtype=float)
    heard, weights = multihead_attention(layer_norm(stream, gamma_1, beta_1), W_q, W_k, W_v, W_o, mask)
    stream += heard
    stream += feed_forward(layer_norm(stream, gamma_2, beta_2), W_1, b_1, W_2, b_2)
    return stream, weights
