"""Mean and variance of layer normalisation are taken for constants: the first term of three.

Loses:
    test_layer_norm_backward: d_X, by way of the mean
    test_layer_norm_backward: d_X, by way of the variance
    test_layer_norm_backward: d_X for random rows
    test_layer_norm_backward: other sizes, another eps, and arguments that stay as they were
Keeps:
    everything else
"""

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    s = np.sqrt(np.var(X, axis=1, keepdims=True) + eps)
    normal = (X - np.mean(X, axis=1, keepdims=True)) / s
    return d_Y * gamma / s, np.sum(d_Y * normal, axis=0), np.sum(d_Y, axis=0)

# %% [solution] *
