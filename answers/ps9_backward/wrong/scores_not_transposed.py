"""d_K is made with the rows of the scores.

Loses:
    test_scores_backward: keys of length 1
    test_scores_backward: d_K
    test_scores_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% scores_backward
def scores_backward(d_S, Q, K):
    scaled = d_S / np.sqrt(K.shape[1])
    return scaled @ K, scaled @ Q

# %% [solution] *
