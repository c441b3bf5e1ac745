"""Only the terms in which i and j are the same: the sigmoid's derivative.

Loses:
    test_softmax_backward: *
Keeps:
    everything else
"""

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    return A * (1 - A) * d_A

# %% [solution] *
