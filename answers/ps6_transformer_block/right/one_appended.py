"""Biases by an appended one, the mask by a table of zeros and minus infinities, the root by logarithms."""

# %% [solution] *

# %% causal_mask
def causal_mask(N):
    return ~np.triu(np.full((N, N), True), 1)

# %% multihead_attention
def multihead_attention(X, W_q, W_k, W_v, W_o, mask=None):
    N = X.shape[0]
    penalty = np.zeros((N, N))
    if mask is not None:
        penalty[np.logical_not(mask)] = -np.inf
    root = W_q.shape[2] ** 0.25  # one half of the scale for each factor
    Q, K, V = (np.array([X @ matrix for matrix in stack]) for stack in (W_q / root, W_k / root, W_v))
    weights = np.array([softmax(q.dot(k.T) + penalty) for q, k in zip(Q, K)])
    return sum(a @ v @ o for a, v, o in zip(weights, V, W_o)), weights

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    centred = X - np.average(X, axis=1)[:, None]
    squares = np.linalg.norm(centred, axis=1) ** 2 / X.shape[1]
    return np.diag(1 / np.sqrt(squares + eps)) @ centred @ np.diag(gamma) + beta

# %% feed_forward
def affine(X, W, b):
    return np.hstack([X, np.ones((len(X), 1))]) @ np.vstack([W, b])


def feed_forward(X, W_1, b_1, W_2, b_2):
    hidden = affine(X, W_1, b_1)
    return affine((hidden + np.abs(hidden)) / 2, W_2, b_2)

# %% transformer_block
def transformer_block(X, block, mask=None):
    def get(*names):
        return [block[name] for name in names]

    for norm, layer in ((get("gamma_1", "beta_1"), "attention"), (get("gamma_2", "beta_2"), "feed-forward")):
        normed = layer_norm(X, *norm)
        if layer == "attention":
            change, weights = multihead_attention(normed, *get("W_q", "W_k", "W_v", "W_o"), mask)
        else:
            change = feed_forward(normed, *get("W_1", "b_1", "W_2", "b_2"))
        X = np.add(X, change)
    return X, weights
