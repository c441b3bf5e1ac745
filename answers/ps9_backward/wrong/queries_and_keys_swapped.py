"""The gradients of queries and keys are the wrong way round.

Loses:
    test_scores_backward: *
Keeps:
    everything else
"""

# %% scores_backward
def scores_backward(d_S, Q, K):
    scaled = d_S / np.sqrt(K.shape[1])
    return scaled.T @ Q, scaled @ K

# %% [solution] *
