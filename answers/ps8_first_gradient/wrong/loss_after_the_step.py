"""The losses are those after each step.

Loses:
    test_descend: three steps downhill
    test_descend: other functions, rates and steps
    test_descend: x stays as it was
Keeps:
    everything else
"""

# %% descend
def descend(x, loss, gradient, rate, steps):
    losses = []
    for _ in range(steps):
        x = x - rate * gradient(x)
        losses.append(loss(x))
    return x, losses

# %% [solution] *
