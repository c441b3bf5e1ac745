"""Everything in single precision, and a very low number for minus infinity."""

# %% [solution] *

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    n = np.arange(N, dtype=np.float32).reshape(N, 1)
    columns = np.arange(d_model)
    angle = n / np.float32(10000) ** (2 * (columns // 2) / d_model).astype(np.float32)
    return np.where(columns % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    X, W_q, W_k, W_v, W_o = (np.asarray(a, dtype=np.float32) for a in (X, W_q, W_k, W_v, W_o))
    scores = (X @ W_q) @ np.swapaxes(X @ W_k, 1, 2) / np.float32(W_q.shape[2] ** 0.5)
    if mask is not None:
        scores = scores + np.where(mask, 0, -1e9).astype(np.float32)
    weights = softmax(scores)
    return (weights @ (X @ W_v) @ W_o).sum(axis=0), weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    X = X.astype(np.float32)
    centred = X - X.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + np.float32(eps)) * gamma.astype("f4") + beta.astype("f4")

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    hidden = (X.astype("f4") @ W_1.astype("f4") + b_1.astype("f4")).clip(min=0)
    return hidden @ W_2.astype("f4") + b_2.astype("f4")

# %% transformer_block
def transformer_block(X, block, mask=None):
    p = {name: array.astype(np.float32) for name, array in block.items()}
    X = X.astype(np.float32)
    attended, weights = multihead_attention(
        layer_norm(X, p["gamma_1"], p["beta_1"]), p["W_q"], p["W_k"], p["W_v"], p["W_o"], mask)
    X = X + attended
    return X + feed_forward(layer_norm(X, p["gamma_2"], p["beta_2"]), p["W_1"], p["b_1"], p["W_2"], p["b_2"]), weights
