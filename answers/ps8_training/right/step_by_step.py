"""One small derivative after the other: the graph of each layer, node by node, with helper functions."""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    largest = logits.max(axis=1, keepdims=True)
    shifted = logits - largest
    log_total = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    log_p = shifted - log_total
    d_log_p = np.zeros(logits.shape)
    for i, t in enumerate(targets):
        d_log_p[i, t] = -d_loss / len(targets)
    return d_log_p - np.exp(log_p) * d_log_p.sum(axis=1, keepdims=True)

# %% linear_backward
def sum_over_broadcast(gradient):
    return gradient.sum(axis=0)


def product_backward(d_product, left, right):
    return d_product.dot(right.transpose()), left.transpose().dot(d_product)


def linear_backward(d_Y, X, W, b):
    d_X, d_W = product_backward(d_Y, X, W)
    return d_X, d_W, sum_over_broadcast(d_Y).reshape(b.shape)

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    B = linear(X, W_1, b_1)
    d_H, d_W_2 = product_backward(d_Y, np.maximum(B, 0), W_2)
    d_B = d_H.copy()
    d_B[B < 0] = 0
    d_X, d_W_1 = product_backward(d_B, X, W_1)
    return d_X, d_W_1, sum_over_broadcast(d_B), d_W_2, sum_over_broadcast(d_Y)

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

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    d_k = K.shape[1]
    scaled = Q / np.sqrt(d_k)
    S = scaled @ K.T
    d_A, d_V = product_backward(d_Y, softmax(S), V)
    d_scaled, d_K_transposed = product_backward(softmax_backward(d_A, S), scaled, K.T)
    return d_scaled / np.sqrt(d_k), d_K_transposed.T, d_V

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    way_q, d_W_q, _ = linear_backward(d_Q, X, W_q, np.zeros(W_q.shape[1]))
    way_k, d_W_k, _ = linear_backward(d_K, X, W_k, np.zeros(W_k.shape[1]))
    way_v, d_W_v, _ = linear_backward(d_V, X, W_v, np.zeros(W_v.shape[1]))
    return way_q + way_k + way_v, d_W_q, d_W_k, d_W_v

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    new = {"t": state["t"] + 1, "m": state["m"].copy(), "v": state["v"].copy()}
    new["m"] *= beta_1
    new["m"] += (1 - beta_1) * gradient
    new["v"] *= beta_2
    new["v"] += (1 - beta_2) * gradient * gradient
    new["m_hat"] = new["m"] / (1 - beta_1 ** new["t"])  # kept to look at them; the next step needs neither
    new["v_hat"] = new["v"] / (1 - beta_2 ** new["t"])
    moved = parameter.copy()
    moved -= rate * new["m_hat"] / (new["v_hat"] ** 0.5 + eps)
    return moved, new

# %% [solution] *
