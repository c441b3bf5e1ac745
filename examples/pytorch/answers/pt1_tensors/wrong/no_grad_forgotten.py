"""A step in place without no_grad raises an error.

Loses:
    test_descend: *
Keeps:
    everything else
"""

# %% [solution] *

# %% descend
def descend(function, start, rate, steps):
    x = start.detach().clone().requires_grad_(True)
    values = []
    for _ in range(steps):
        value = function(x)
        value.backward()
        values.append(value.item())
        x -= rate * x.grad
        x.grad.zero_()
    return x.detach(), values
