"""Outer products of ufuncs, matmul over a stack of heads, hypot for the root, maximum by where."""

# %% sinusoidal_positions
def sinusoidal_positions(N, d_model):
    pairs = np.repeat(np.arange(d_model // 2), 2)
    angles = np.multiply.outer(np.arange(N), np.exp(-2 * pairs / d_model * np.log(10000)))
    return np.sin(angles + np.pi / 2 * (np.arange(d_model) % 2))

# %% causal_mask
def causal_mask(N):
    return np.greater_equal.outer(range(N), range(N))

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    Q, K, V = (np.matmul(X[np.newaxis], W) for W in (W_q, W_k, W_v))
    scores = np.matmul(Q, np.moveaxis(K, -1, -2)) * K.shape[-1] ** -0.5
    scores = scores if mask is None else np.choose(np.asarray(mask, dtype=int), [np.full_like(scores, -1e30), scores])
    powers = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.add.reduce(np.matmul(np.matmul(powers, V), W_o)), powers

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    m = X @ np.ones((X.shape[1], 1)) / X.shape[1]
    return np.multiply(np.divide(X - m, np.hypot(X.std(axis=1, keepdims=True), eps ** 0.5)), gamma) + beta

# %% feed_forward
def feed_forward(X, W_1, b_1, W_2, b_2):
    inner = np.inner(X, W_1.T) + b_1
    return np.inner(np.where(inner > 0, inner, 0), W_2.T) + b_2

# %% transformer_block
def transformer_block(X, block, mask=None):
    def first(rows):
        nonlocal weights
        rows = layer_norm(rows, block["gamma_1"], block["beta_1"])
        heard, weights = multihead_attention(rows, *map(block.get, ("W_q", "W_k", "W_v", "W_o")), mask)
        return heard

    def second(rows):
        rows = layer_norm(rows, block["gamma_2"], block["beta_2"])
        return feed_forward(rows, *map(block.get, ("W_1", "b_1", "W_2", "b_2")))

    weights = None
    for half in (first, second):
        X = X + half(X)
    return (X, weights)

# %% [markdown] why_these_parts_answer
# 1. me would keep a weight of less than one, and that weight depends on artificial.
# 2. Its embedding is gone after one block unless it listens to itself; gradients vanish.
# 3. Attention. Row n of everything else is a function of row n.
