"""Each step replaces x by rate times the gradient, as if that halved it.

Loses:
    test_descend: other functions, rates and steps
    test_descend: x stays as it was
Keeps:
    everything else
"""

# %% descend
def descend(x, loss, gradient, rate, steps):
    losses = []
    for _ in range(steps):
        losses.append(loss(x))
        x = rate * gradient(x)
    return x, losses

# %% [solution] *
