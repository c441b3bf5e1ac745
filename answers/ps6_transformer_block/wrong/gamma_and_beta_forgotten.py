"""Normalised, but neither scaled nor shifted.

Loses:
    test_layer_norm: *
    test_layer_norm_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=1, keepdims=True)
    variance = X.var(axis=1, keepdims=True)
    return (X - mean) / np.sqrt(variance + eps)
