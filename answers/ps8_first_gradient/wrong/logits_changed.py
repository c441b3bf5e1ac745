"""The logits are shifted and made into powers in place.

Loses:
    test_logits_gradient: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% logits_gradient
def logits_gradient(logits, targets):
    logits -= logits.max(axis=1, keepdims=True)
    P = np.exp(logits)
    P /= P.sum(axis=1, keepdims=True)
    P[np.arange(len(targets)), targets] -= 1
    return P / len(targets)

# %% [solution] *
