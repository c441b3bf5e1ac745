"""One maximum is subtracted from all rows, so a row of -1000 beside one of 1000 is lost.

Loses:
    test_bigram_loss: logits of plus and minus 1000
    test_logits_gradient: logits of plus and minus 1000
Keeps:
    everything else
"""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    rows = W[inputs] - np.max(W)
    return np.mean(np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(targets)), targets])

# %% logits_gradient
def logits_gradient(logits, targets):
    P = np.exp(logits - np.max(logits))
    P = P / P.sum(axis=1, keepdims=True)
    P[np.arange(len(targets)), targets] -= 1
    return P / len(targets)

# %% [solution] *
