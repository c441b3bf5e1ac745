"""The output of word 1 is the plain mean of the values; the weights are not used.

Loses:
    test_attention_word_1: the weighted sum of the values
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_word_1
attention = (value_1 + value_2 + value_3 + value_4) / 4
