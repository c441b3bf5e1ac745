"""The positions are summed by token, as the embedding is.

Loses:
    test_embed_backward: d_positions
    test_embed_backward: other sizes, a single token, and arguments that stay as they were
Keeps:
    everything else
"""

# %% embed_backward
def embed_backward(d_X, tokens, vocabulary, longest):
    d_embedding, d_positions = np.zeros((vocabulary, d_X.shape[1])), np.zeros((longest, d_X.shape[1]))
    for token, row in zip(tokens, d_X):
        d_embedding[token] += row
        d_positions[min(token, longest - 1)] += row
    return d_embedding, d_positions

# %% [solution] *
