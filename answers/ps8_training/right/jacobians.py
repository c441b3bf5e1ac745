"""Whole Jacobian matrices, one for each row, multiplied by the gradient that comes back."""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    # Through the probabilities: the gradient of the mean of -log p, times the Jacobian of the softmax.
    P = softmax(logits)
    d_P = np.zeros_like(P)
    rows = np.arange(len(targets))
    d_P[rows, targets] = -1 / P[rows, targets]
    d_P *= d_loss / len(targets)
    return np.stack([(np.diag(p) - np.outer(p, p)) @ d for p, d in zip(P, d_P)])

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    d_X = np.stack([W @ row for row in d_Y])
    d_W = sum(np.outer(x, y) for x, y in zip(X, d_Y))
    d_b = sum(row for row in d_Y)
    return d_X, d_W, d_b

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    gradients = [np.zeros_like(one) for one in (X, W_1, b_1, W_2, b_2)]
    for n, (x, d_y) in enumerate(zip(X, d_Y)):
        before = x @ W_1 + b_1
        hidden = before.clip(min=0)
        slope = np.diag(np.heaviside(before, 0.5))
        d_before = slope @ W_2 @ d_y
        gradients[0][n] = W_1 @ d_before
        gradients[1] += np.outer(x, d_before)
        gradients[2] += d_before
        gradients[3] += np.outer(hidden, d_y)
        gradients[4] += d_y
    return tuple(gradients)

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    d_X, d_gamma, d_beta = np.empty_like(X), np.zeros_like(gamma), np.zeros_like(beta)
    for row, (x, d_y) in enumerate(zip(X, d_Y)):
        n, s = len(x), np.sqrt(x.var() + eps)
        x_hat = (x - x.mean()) / s
        jacobian = (np.eye(n) - 1 / n - np.outer(x_hat, x_hat) / n) / s
        d_X[row] = jacobian @ (gamma * d_y)
        d_gamma += x_hat * d_y
        d_beta += d_y
    return d_X, d_gamma, d_beta

# %% softmax_backward
def softmax_backward(d_A, S):
    return np.array([d @ (np.diag(a) - np.outer(a, a)) for d, a in zip(d_A, softmax(S))])

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    scale = Q.shape[1] ** 0.5
    A = softmax(Q @ K.T / scale)
    d_A = d_Y @ V.T
    jacobians = A[:, :, None] * np.eye(len(Q)) - A[:, :, None] * A[:, None, :]
    d_S = np.matmul(jacobians, d_A[:, :, None])[:, :, 0]
    return d_S @ (K / scale), d_S.T @ (Q / scale), A.T @ d_Y

# %% [solution] *
