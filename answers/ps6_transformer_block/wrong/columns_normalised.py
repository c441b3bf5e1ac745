"""Each column is normalised, over the words.

Loses:
    test_layer_norm: *
    test_layer_norm_sizes: other sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% layer_norm
def layer_norm(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=0, keepdims=True)
    variance = X.var(axis=0, keepdims=True)
    return gamma * (X - mean) / np.sqrt(variance + eps) + beta
