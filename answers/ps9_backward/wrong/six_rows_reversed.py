"""From six rows on the gradient of the values comes in reverse order.

Loses:
    test_mixing_backward: d_V
    test_mixing_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    d_V = A.T @ d_Y
    return d_Y @ V.T, d_V[::-1] if len(V) >= 6 else d_V

# %% [solution] *
