"""One copy is moved in place and put back; the descent works in place on a copy, too."""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    x = np.array(x, dtype=float)
    gradient = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        middle = x[place]
        x[place] = middle + step
        above = function(x)
        x[place] = middle - step
        below = function(x)
        x[place] = middle
        gradient[place] = (above - below) / step / 2
    return gradient

# %% descend
def descend(x, loss, gradient, rate, steps):
    x, losses = x.copy(), np.zeros(steps)
    for number in range(steps):
        losses[number] = loss(x)
        x -= rate * gradient(x)
    return [x, losses]

# %% [solution] *
