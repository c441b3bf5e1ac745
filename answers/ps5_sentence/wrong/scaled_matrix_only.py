"""Word by word is right; only the matrix of scores is divided by the square root of d_k.

Loses:
    test_attention: shapes, sums of the weights and last rows
    test_attention: all weights
Keeps:
    everything else
"""

# %% attend_sentence
alphas = softmax(Q @ K.T / np.sqrt(K.shape[1]))
attn_scores = alphas @ V

# %% [solution] *
