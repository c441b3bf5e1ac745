"""The values are tensors, and the result keeps its history.

Loses:
    test_descend: another function
    test_descend: the start stays as it is
Keeps:
    everything else
"""

# %% [solution] *

# %% descend
def descend(function, start, rate, steps):
    x = start.detach().clone().requires_grad_(True)
    values = []
    for _ in range(steps):
        x.grad = None
        value = function(x)
        value.backward()
        values.append(value)
        with torch.no_grad():
            x -= rate * x.grad
    return x, values
