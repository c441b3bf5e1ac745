"""The weights are transposed when the values are summed.

Loses:
    test_attention: shapes, sums of the weights and last rows
    test_attention: all outputs
Keeps:
    everything else
"""

# %% attend_sentence
alphas = softmax(Q @ K.T)
attn_scores = alphas.T @ V

# %% [solution] *
