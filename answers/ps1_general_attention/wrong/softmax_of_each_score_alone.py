"""The scores of word 1 stand in a column and the softmax runs along its rows: all weights are one.

Loses:
    test_weights_word_1: *
Keeps:
    everything else
"""

# %% [solution] *

# %% weights_word_1
weights = softmax(scores.reshape(4, 1) / np.sqrt(3), axis=1)

# %% attention_word_1
attention = weights.ravel() @ np.array([value_1, value_2, value_3, value_4])
