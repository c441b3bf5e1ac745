"""The gradients of the scores are not divided by the root of d_k.

Loses:
    test_scores_backward: d_Q
    test_scores_backward: d_K
Keeps:
    everything else
"""

# %% scores_backward
def scores_backward(d_S, Q, K):
    return d_S @ K, d_S.T @ Q

# %% [solution] *
