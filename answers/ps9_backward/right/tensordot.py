"""tensordot, np.average and np.linalg.norm; lists in place of tuples; a mask that is multiplied first."""

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return [np.tensordot(d_Y, W, axes=(1, 1)), np.tensordot(X, d_Y, axes=(0, 0)), np.add.reduce(d_Y)]

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    n = X.shape[-1]
    centred = (X.T - np.average(X, axis=1)).T
    s = np.sqrt(np.linalg.norm(centred, axis=1) ** 2 / n + eps)
    g = (d_Y * gamma).T  # a row is a column from here on
    d_columns = (g - np.average(g, axis=0)) / s - centred.T * np.average(g * centred.T, axis=0) / s**3
    return d_columns.T, np.add.reduce(d_Y * (centred.T / s).T), np.add.reduce(d_Y)

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    return A * (d_A - np.average(d_A, axis=1, weights=A).reshape(len(A), 1))

# %% relu_backward
def relu_backward(d_H, B):
    return np.sign(relu(B)) * d_H

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return np.inner(d_Y, V), np.tensordot(A, d_Y, (0, 0))

# %% scores_backward
def scores_backward(d_S, Q, K):
    d_S = d_S / np.linalg.norm(np.ones(Q.shape[1]))
    return np.tensordot(d_S, K, 1), np.tensordot(d_S, Q, (0, 0))

# %% [solution] *
