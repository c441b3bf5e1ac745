"""The loss is the sum over the pairs, not their mean.

Loses:
    test_bigram_loss: a table of three words
    test_bigram_loss: random tables and texts
    test_bigram_loss: logits of plus and minus 1000
    test_bigram_loss: other sizes, and a table that stays as it was
Keeps:
    everything else
"""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    rows = W[inputs] - W[inputs].max(axis=1, keepdims=True)
    return np.sum(np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(targets)), targets])

# %% [solution] *
