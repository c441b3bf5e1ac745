"""The second term of the softmax's gradient is left out.

Loses:
    test_softmax_backward: both terms
    test_softmax_backward: scores of minus infinity
    test_softmax_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% softmax_backward
def softmax_backward(d_A, S):
    return softmax(S) * d_A

# %% [solution] *
