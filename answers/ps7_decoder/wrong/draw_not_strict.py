"""The first sum that is at least u, so u = 0 draws a token of probability zero.

Loses:
    test_draw: *
Keeps:
    everything else
"""


# %% draw
def draw(probabilities, u):
    return int(np.argmax(np.cumsum(probabilities) >= u))


# %% [solution] *
