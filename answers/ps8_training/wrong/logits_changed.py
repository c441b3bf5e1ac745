"""The logits are overwritten with the result.

Loses:
    test_cross_entropy_backward: the arguments stay as they are
Keeps:
    everything else
"""

# %% cross_entropy_backward
def cross_entropy_backward(d_loss, logits, targets):
    logits[:] = softmax(logits)
    logits[np.arange(len(targets)), targets] -= 1
    logits *= d_loss / len(targets)
    return logits

# %% [solution] *
