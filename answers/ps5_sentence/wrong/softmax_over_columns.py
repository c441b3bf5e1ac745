"""The softmax runs down the columns of a matrix instead of along its rows. With flat
scores, word by word, all is right.

Loses:
    test_softmax: *
    test_softmax_sizes: *
    test_softmax_stable: large scores in rows that lie far apart
Keeps:
    everything else
"""

# %% softmax
def softmax(x):
    shifted = x - np.max(x, axis=0)
    return np.exp(shifted) / np.sum(np.exp(shifted), axis=0)

# %% [markdown] why_uniform_answer
# Since the embeddings are all alike, the weights are alike.

# %% [solution] *
