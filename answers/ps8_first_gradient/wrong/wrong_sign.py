"""The gradient points downhill.

Loses:
    test_logits_gradient: *
Keeps:
    everything else
"""

# %% logits_gradient
def logits_gradient(logits, targets):
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P = P / P.sum(axis=1, keepdims=True)
    return (np.eye(logits.shape[1])[targets] - P) / len(targets)

# %% [solution] *
