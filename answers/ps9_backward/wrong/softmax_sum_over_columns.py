"""The sum in the softmax's gradient runs over the column.

Loses:
    test_softmax_backward: *
Keeps:
    everything else
"""

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    return A * (d_A - np.sum(A * d_A, axis=0))

# %% [solution] *
