"""The gradients of all steps add up.

Loses:
    test_descend: down a parabola
    test_descend: another function
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
        with torch.no_grad():
            x -= rate * x.grad
    return x.detach(), values
