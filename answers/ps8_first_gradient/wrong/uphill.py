"""The step goes along the gradient.

Loses:
    test_descend: *
Keeps:
    everything else
"""

# %% descend
def descend(x, loss, gradient, rate, steps):
    losses = []
    for _ in range(steps):
        losses.append(loss(x))
        x = x + rate * gradient(x)
    return x, losses

# %% [solution] *
