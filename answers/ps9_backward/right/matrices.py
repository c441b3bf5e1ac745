"""Sums are products with ones, means products with a centring matrix, one-hot rows are rows of the identity."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    # The bias is one more row of the matrix, for an input of ones.
    with_ones = np.hstack([X, np.ones((len(X), 1))])
    both = with_ones.T @ d_Y
    return (W @ d_Y.T).T, both[:-1], both[-1]

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

# %% projections_backward
def projections_backward(d_Q, d_K, d_V, X, W_q, W_k, W_v):
    # One linear layer with the three matrices next to each other.
    d_all = np.concatenate([d_Q, d_K, d_V], axis=1)
    W = np.concatenate([W_q, W_k, W_v], axis=1)
    d_W = X.T @ d_all
    return [d_all @ W.T, *np.split(d_W, [W_q.shape[1], 2 * W_q.shape[1]], axis=1)]

# %% relu_backward
def relu_backward(d_H, B):
    return np.multiply((B > 0).astype(float), d_H)

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2, parts):
    B = np.dot(X, W_1) + b_1
    d_H, *second = parts["linear"](d_Y, np.multiply(B, B > 0), W_2, b_2)
    d_X, *first = parts["linear"](parts["relu"](d_H, B), X, W_1, b_1)
    return [d_X, *first, *second]

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return [np.dot(d_Y, np.transpose(V)), np.dot(np.transpose(A), d_Y)]

# %% scores_backward
def scores_backward(d_S, Q, K):
    return [np.dot(d_S, K) / np.sqrt(Q.shape[1]), np.dot(np.transpose(d_S), Q) / np.sqrt(Q.shape[1])]

# %% transformer_block_backward
def transformer_block_backward(d_Y, X, block, mask, parts):
    normal_1 = layer_norm(X, block["gamma_1"], block["beta_1"])
    Z = X + multihead_attention(normal_1, block["W_q"], block["W_k"], block["W_v"], block["W_o"], mask)
    normal_2 = layer_norm(Z, block["gamma_2"], block["beta_2"])

    def back(part, d_out, inputs, names, *more):
        d_in, *rest = parts[part](d_out, inputs, *(block[name] for name in names), *more)
        return d_in, dict(zip(names, rest))

    d_normal_2, of_layer = back("feed_forward", d_Y, normal_2, NAMES[8:])
    d_inner, of_norm_2 = back("layer_norm", d_normal_2, Z, NAMES[6:8])
    d_Z = np.add(d_Y, d_inner)
    d_normal_1, of_attention = back("multihead_attention", d_Z, normal_1, NAMES[2:6], mask)
    d_inner, of_norm_1 = back("layer_norm", d_normal_1, X, NAMES[:2])
    return np.add(d_Z, d_inner), of_norm_1 | of_attention | of_norm_2 | of_layer

# %% [solution] *
