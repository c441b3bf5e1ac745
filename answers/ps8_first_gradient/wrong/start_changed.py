"""x -= ... changes the array that was handed over.

Loses:
    test_descend: x stays as it was
Keeps:
    everything else
"""

# %% descend
def descend(x, loss, gradient, rate, steps):
    losses = []
    for _ in range(steps):
        losses.append(loss(x))
        x -= rate * gradient(x)
    return x, losses

# %% [solution] *
