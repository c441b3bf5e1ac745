"""The small number is added to the root.

Loses:
    test_layer_norm: rows of nearly equal numbers
Keeps:
    everything else
"""

# %% [solution] *

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=1, keepdims=True)
    variance = X.var(axis=1, keepdims=True)
    return gamma * (X - mean) / (np.sqrt(variance) + eps) + beta
