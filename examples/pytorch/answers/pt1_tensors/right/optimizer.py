"""Descent by an optimizer of the library's, on a parameter."""

# %% [solution] *

# %% descend
def descend(function, start, rate, steps):
    x = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.SGD([x], lr=rate)
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = function(x)
        value.backward()
        optimizer.step()
        values.append(value.item())
    return x.data, values
