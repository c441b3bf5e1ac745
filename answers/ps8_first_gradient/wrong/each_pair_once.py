"""A pair that occurs several times counts once in the loss.

Loses:
    test_bigram_loss: random tables and texts
    test_bigram_loss: logits of plus and minus 1000
    test_bigram_loss: other sizes, and a table that stays as it was
"""

# %% bigram_loss
def bigram_loss(W, inputs, targets):
    pairs = sorted(set(zip(inputs.tolist(), targets.tolist())))
    first, second = np.array(pairs).T
    rows = W[first]
    highest = np.max(rows, axis=1)
    logs = highest + np.log(np.sum(np.exp(rows - highest[:, None]), axis=1))
    return np.mean(logs - W[first, second])

# %% [solution] *
