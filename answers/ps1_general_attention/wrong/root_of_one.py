"""The words are 1x3 rows, and key_1.shape[0] is taken for d_k: that is 1, so word 1 is not scaled.

Loses:
    test_weights_word_1: the softmax of the divided scores
Keeps:
    everything else
"""

# %% [solution] *

# %% vectors
query_1, query_2, query_3, query_4 = (word[None, :] @ W_Q for word in (word_1, word_2, word_3, word_4))
key_1, key_2, key_3, key_4 = (word[None, :] @ W_K for word in (word_1, word_2, word_3, word_4))
value_1, value_2, value_3, value_4 = (word[None, :] @ W_V for word in (word_1, word_2, word_3, word_4))

# %% scores_word_1
scores = np.concatenate([query_1 @ key.T for key in (key_1, key_2, key_3, key_4)], axis=1)

# %% weights_word_1
weights = softmax(scores / key_1.shape[0] ** 0.5)

# %% attention_word_1
attention = weights @ np.concatenate([value_1, value_2, value_3, value_4])
