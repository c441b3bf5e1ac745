"""The gradients of the layer norm and of the scores are had by the differences of the judge.

Loses:
    test_layer_norm_backward: d_gamma and d_beta
    test_layer_norm_backward: d_X, directly
    test_layer_norm_backward: d_X, by way of the mean
    test_layer_norm_backward: d_X, by way of the variance
    test_layer_norm_backward: d_X for random rows
    test_layer_norm_backward: other sizes, another eps, and arguments that stay as they were
    test_scores_backward: keys of length 1
    test_scores_backward: d_Q
    test_scores_backward: d_K
    test_scores_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% layer_norm_backward
def layer_norm_backward(d_Y, X, gamma, beta, eps=1e-5):
    return numerical_gradients(lambda *three: layer_norm(*three, eps), d_Y, X, gamma, beta)

# %% scores_backward
def scores_backward(d_S, Q, K):
    return numerical_gradients(scores, d_S, Q, K)

# %% [solution] *
