"""The output of word 1 is the plain sum of the values; the weights are not used.

Loses:
    test_attention_word_1: *
Keeps:
    everything else
"""

# %% [solution] *

# %% attention_word_1
attention = value_1 + value_2 + value_3 + value_4
