"""d_V is made with the rows of the weights.

Loses:
    test_mixing_backward: d_V
    test_mixing_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% mixing_backward
def mixing_backward(d_Y, A, V):
    return d_Y @ V.T, A @ d_Y

# %% [solution] *
