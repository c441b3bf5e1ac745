"""The exponentials are taken of the logits as they are.

Loses:
    test_bigram_loss: logits of plus and minus 1000
    test_logits_gradient: logits of plus and minus 1000
Keeps:
    everything else
"""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    P = np.exp(W[inputs]) / np.exp(W[inputs]).sum(axis=1, keepdims=True)
    return -np.mean(np.log(P[np.arange(len(targets)), targets]))

# %% logits_gradient
def logits_gradient(logits, targets):
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    P[np.arange(len(targets)), targets] -= 1
    return P / len(targets)

# %% [solution] *
