"""d_positions has a row for each token of the text, not for each position there is.

Loses:
    test_embed_backward: d_positions
Keeps:
    everything else
"""

# %% embed_backward
def embed_backward(d_X, tokens, vocabulary, longest):
    d_embedding = np.zeros((vocabulary, d_X.shape[1]))
    np.add.at(d_embedding, tokens, d_X)
    return d_embedding, d_X.copy()

# %% [solution] *
