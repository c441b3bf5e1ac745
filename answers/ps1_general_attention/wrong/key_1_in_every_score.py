"""A copied line was not changed: word 1's key stands in every score of word 1.

Loses:
    test_scores_word_1: *
Keeps:
    everything else
"""

# %% [solution] *

# %% scores_word_1
score_1 = query_1 @ key_1
score_2 = query_1 @ key_1
score_3 = query_1 @ key_1
score_4 = query_1 @ key_1
scores = np.array([score_1, score_2, score_3, score_4])
