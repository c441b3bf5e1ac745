"""softmax divides each score by the sum of the scores, without the exponential function.

Loses:
    test_softmax: *
    test_softmax_large: *
    test_softmax_sizes: *
Keeps:
    everything else
"""

# %% softmax
def softmax(items_in):
    total = sum(items_in)
    return [item / total for item in items_in]

# %% [solution] *
