"""Whole Jacobian matrices, one for each row, multiplied by the gradient that comes back."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    d_X = np.stack([W @ row for row in d_Y])
    d_W = sum(np.outer(x, y) for x, y in zip(X, d_Y))
    d_b = sum(row for row in d_Y)
    return d_X, d_W, d_b

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

# %% relu_backward
def relu_backward(d_H, B):
    return np.array([np.diag(np.heaviside(before, 0.5)) @ d_h for before, d_h in zip(B, d_H)])

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return np.stack([V @ d_y for d_y in d_Y]), sum(np.outer(a, d_y) for a, d_y in zip(A, d_Y))

# %% scores_backward
def scores_backward(d_S, Q, K):
    scale = Q.shape[1] ** 0.5
    return d_S @ (K / scale), d_S.T @ (Q / scale)

# %% [solution] *
