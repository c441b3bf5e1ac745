"""A 3 x 3 attention between the features of queries and keys, not between words.

Loses:
    test_attention: *
Keeps:
    everything else
"""

# %% attend_sentence
alphas = softmax(Q.T @ K)
attn_scores = V @ alphas

# %% [solution] *
