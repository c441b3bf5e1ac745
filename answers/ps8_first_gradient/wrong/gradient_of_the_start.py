"""Every step uses the gradient at the start.

Loses:
    test_descend: *
Keeps:
    everything else
"""

# %% descend
def descend(x, loss, gradient, rate, steps):
    losses, slope = [], gradient(x)
    for _ in range(steps):
        losses.append(loss(x))
        x = x - rate * slope
    return x, losses

# %% [solution] *
