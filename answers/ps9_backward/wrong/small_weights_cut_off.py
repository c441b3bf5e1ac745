"""Weights below a hundredth count as zero.

Loses:
    test_softmax_backward: both terms
    test_softmax_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% softmax_backward
def softmax_backward(d_A, S):
    A = softmax(S)
    A = np.where(A < 0.01, 0, A)
    products = A * d_A
    return products - A * np.sum(products, axis=1, keepdims=True)

# %% [solution] *
