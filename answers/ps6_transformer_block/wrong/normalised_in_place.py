"""The mean is taken off in place, so the caller's X changes.

Loses:
    test_layer_norm_sizes: the arguments stay unchanged
Keeps:
    everything else
"""

# %% [solution] *

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    X -= X.mean(axis=1, keepdims=True)
    return gamma * X / np.sqrt(X.var(axis=1, keepdims=True) + eps) + beta
