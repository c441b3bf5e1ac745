"""The gradient of the softmax lacks its second term; attention uses it and follows from it.

Loses:
    test_softmax_backward: *
Keeps:
    everything else
"""

# %% softmax_backward
def softmax_backward(d_A, S):
    return softmax(S) * d_A

# %% [solution] *
