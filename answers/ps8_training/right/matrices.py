"""Sums are products with ones, means products with a centring matrix, one-hot rows are rows of the identity."""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    N, vocabulary = logits.shape
    return (softmax(logits) - np.eye(vocabulary)[targets]) * (d_loss / N)

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    # The bias is one more row of the matrix, for an input of ones.
    with_ones = np.hstack([X, np.ones((len(X), 1))])
    both = with_ones.T @ d_Y
    return (W @ d_Y.T).T, both[:-1], both[-1]

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    ones = np.ones(len(X))
    B = X @ W_1 + b_1
    mask = (B > 0).astype(float)
    d_B = np.multiply(mask, np.dot(d_Y, W_2.T))
    return [np.dot(d_B, W_1.T), np.dot(X.T, d_B), ones @ d_B, np.dot((B * mask).T, d_Y), ones @ d_Y]

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    N, n = X.shape
    centring = np.eye(n) - np.ones((n, n)) / n
    centred = X @ centring
    s = np.sqrt(np.diag(centred @ centred.T) / n + eps)
    scale = np.diag(1 / s)
    x_hat = scale @ centred
    g = d_Y @ np.diag(gamma)
    d_X = scale @ (g @ centring - np.diag(np.diag(g @ x_hat.T)) @ x_hat / n)
    return [d_X, np.diag(x_hat.T @ d_Y).copy(), np.ones(N) @ d_Y]

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    return A * (d_A - (A * d_A) @ np.ones((S.shape[1], S.shape[1])))

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    A = attention_weights(Q, K)
    d_A = np.dot(d_Y, np.transpose(V))
    row = np.diag(np.dot(A, d_A.T)).reshape(-1, 1)
    d_S = np.multiply(A, d_A - row) / np.sqrt(Q.shape[1])
    return [np.dot(d_S, K), np.dot(d_S.T, Q), np.dot(A.T, d_Y)]

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    # One linear layer with the three matrices next to each other.
    d_all = np.concatenate([d_Q, d_K, d_V], axis=1)
    W = np.concatenate([W_q, W_k, W_v], axis=1)
    d_W = X.T @ d_all
    return [d_all @ W.T, *np.split(d_W, [W_q.shape[1], 2 * W_q.shape[1]], axis=1)]

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, parts):
    normal_1 = layer_norm(X, block["gamma_1"], block["beta_1"])
    Z = X + multihead_attention(normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"])[0]
    normal_2 = layer_norm(Z, block["gamma_2"], block["beta_2"])

    def back(part, d_out, inputs, *names):
        d_in, *rest = parts[part](d_out, inputs, *(block[name] for name in names))
        return d_in, dict(zip(names, rest))

    d_normal_2, of_layer = back("feed_forward", d_Y, normal_2, "W_1", "b_1", "W_2", "b_2")
    d_inner, of_norm_2 = back("layer_norm", d_normal_2, Z, "gamma_2", "beta_2")
    d_Z = np.add(d_Y, d_inner)
    d_normal_1, of_attention = back("multihead_attention", d_Z, normal_1, "W_q", "W_k", "W_v", "W_o")
    d_inner, of_norm_1 = back("layer_norm", d_normal_1, X, "gamma_1", "beta_1")
    return np.add(d_Z, d_inner), of_norm_1 | of_attention | of_norm_2 | of_layer

# %% adam_step
def adam_step(parameter, gradient, state, rate=0.01, beta_1=0.9, beta_2=0.999, eps=1e-8):
    # The correction of both means is put into the rate, with eps scaled as well.
    t = state["t"] + 1
    m = state["m"] + (1 - beta_1) * (gradient - state["m"])
    v = state["v"] + (1 - beta_2) * (np.square(gradient) - state["v"])
    root = np.sqrt(1 - np.power(beta_2, t))
    step = rate * root / (1 - np.power(beta_1, t))
    return parameter - step * m / (np.sqrt(v) + eps * root), {"t": t, "m": m, "v": v}

# %% train
def train(parameters, batches, loss_and_gradients, step):
    now = {name: np.copy(array) for name, array in parameters.items()}
    states = {name: adam_start(array) for name, array in now.items()}
    losses = np.zeros(len(batches))
    for place, batch in enumerate(batches):
        losses[place], gradients = loss_and_gradients(now, batch)
        moved = {name: step(now[name], gradients[name], states[name]) for name in now}
        now = {name: pair[0] for name, pair in moved.items()}
        states = {name: pair[1] for name, pair in moved.items()}
    return now, losses

# %% [solution] *
