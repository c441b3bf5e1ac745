"""The last term divides by n - 1.

Loses:
    test_layer_norm_backward: d_X, by way of the variance
    test_layer_norm_backward: d_X for random rows
    test_layer_norm_backward: other sizes, another eps, and arguments that stay as they were
Keeps:
    everything else
"""

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    n = X.shape[1]
    s = np.sqrt(np.var(X, axis=1, keepdims=True) + eps)
    normal = (X - np.mean(X, axis=1, keepdims=True)) / s
    g = d_Y * gamma
    last = normal * np.sum(g * normal, axis=1, keepdims=True) / max(n - 1, 1)
    d_X = (g - g.mean(axis=1, keepdims=True) - last) / s
    return d_X, np.sum(d_Y * normal, axis=0), np.sum(d_Y, axis=0)

# %% [solution] *
