"""The means of layer normalisation divide by n - 1, as a sample's variance does.

Loses:
    test_layer_norm_backward: d_X agrees with finite differences
    test_layer_norm_backward: d_X for new random numbers, and arguments that stay as they are
    test_layer_norm_backward: other sizes and another eps
Keeps:
    everything else
"""

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    n = X.shape[1]
    s = np.sqrt(np.var(X, axis=1, keepdims=True) + eps)
    normal = (X - np.mean(X, axis=1, keepdims=True)) / s
    g = d_Y * gamma
    means = g.sum(axis=1, keepdims=True) + normal * (g * normal).sum(axis=1, keepdims=True)
    return (g - means / (n - 1)) / s, np.sum(d_Y * normal, axis=0), np.sum(d_Y, axis=0)

# %% [solution] *
