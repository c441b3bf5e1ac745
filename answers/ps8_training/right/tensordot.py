"""tensordot, np.average and np.linalg.norm; lists in place of tuples; a mask that is multiplied first."""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    d_logits = [p.copy() for p in softmax(logits)]
    for row, target in zip(d_logits, targets):
        row[target] -= 1
        row *= d_loss / len(targets)
    return d_logits

# %% linear_backward
def linear_backward(d_Y, X, W, b):
    return [np.tensordot(d_Y, W, axes=(1, 1)), np.tensordot(X, d_Y, axes=(0, 0)), np.add.reduce(d_Y)]

# %% feed_forward_backward
def feed_forward_backward(d_Y, X, W_1, b_1, W_2, b_2):
    open_gates = X @ W_1 + b_1 > 0
    H = (X @ W_1 + b_1) * open_gates
    d_B = open_gates * np.tensordot(d_Y, W_2, axes=(1, 1))
    return (*first(linear_backward(d_B, X, W_1, b_1)), *linear_backward(d_Y, H, W_2, b_2)[1:])


def first(results):
    return results

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

# %% attention_backward
def attention_backward(d_Y, Q, K, V):
    A = attention_weights(Q, K)
    d_A = np.inner(d_Y, V)
    S_grad = A * (d_A - np.average(d_A, axis=1, weights=A)[:, np.newaxis])
    S_grad = S_grad / np.linalg.norm(np.ones(Q.shape[1]))
    return [np.tensordot(S_grad, K, 1), np.tensordot(S_grad, Q, (0, 0)), np.tensordot(A, d_Y, (0, 0))]

# %% [solution] *
