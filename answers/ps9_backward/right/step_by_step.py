"""One small derivative after the other: the graph of each layer, node by node, with helper functions."""

# %% linear_backward
def sum_over_broadcast(gradient):
    return gradient.sum(axis=0)


def product_backward(d_product, left, right):
    return d_product.dot(right.transpose()), left.transpose().dot(d_product)


def linear_backward(d_Y, X, W, b):
    d_X, d_W = product_backward(d_Y, X, W)
    return d_X, d_W, sum_over_broadcast(d_Y).reshape(b.shape)

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    n = X.shape[1]
    mu = X.sum(axis=1, keepdims=True) / n
    centred = X - mu
    v = (centred * centred).sum(axis=1, keepdims=True) / n
    s = (v + eps) ** 0.5
    normal = centred / s
    d_normal = d_Y * gamma
    d_centred = d_normal / s
    d_s = -(d_normal * centred).sum(axis=1, keepdims=True) / s**2
    d_v = d_s / (2 * s)
    d_centred += d_v * 2 * centred / n
    d_mu = -d_centred.sum(axis=1, keepdims=True)
    d_X = d_centred + d_mu / n
    return d_X, (d_Y * normal).sum(axis=0), d_Y.sum(axis=0)

# %% softmax_backward
def softmax_backward(d_A, S):
    powers = np.exp(S - S.max(axis=1, keepdims=True))
    total = powers.sum(axis=1, keepdims=True)
    d_powers = d_A / total
    d_total = -(d_A * powers).sum(axis=1, keepdims=True) / total**2
    return (d_powers + d_total) * powers

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    way_q, d_W_q, _ = linear_backward(d_Q, X, W_q, np.zeros(W_q.shape[1]))
    way_k, d_W_k, _ = linear_backward(d_K, X, W_k, np.zeros(W_k.shape[1]))
    way_v, d_W_v, _ = linear_backward(d_V, X, W_v, np.zeros(W_v.shape[1]))
    return way_q + way_k + way_v, d_W_q, d_W_k, d_W_v

# %% relu_backward
def relu_backward(d_H, B):
    d_B = d_H.copy()
    d_B[B < 0] = 0
    return d_B

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return product_backward(d_Y, A, V)

# %% scores_backward
def scores_backward(d_S, Q, K):
    scaled = Q / np.sqrt(K.shape[1])
    d_scaled, d_K_transposed = product_backward(d_S, scaled, K.T)
    return d_scaled / np.sqrt(K.shape[1]), d_K_transposed.T

# %% attention_backward
def attention_backward(d_Y, Q, K, V, mask, parts):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = np.where(np.ones(S.shape, dtype=bool) if mask is None else mask, S, float("-inf"))
    from_mixing = parts["mixing"](d_Y, softmax(S), V)
    from_scores = parts["scores"](parts["softmax"](from_mixing[0], S), Q, K)
    return [from_scores[0], from_scores[1], from_mixing[1]]

# %% [solution] *
