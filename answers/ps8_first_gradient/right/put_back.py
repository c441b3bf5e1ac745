"""Each entry is moved in the caller's own array, and put back."""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros_like(x)
    walk = np.nditer(x, flags=["multi_index"], op_flags=["readwrite"])
    while not walk.finished:
        place = walk.multi_index
        value = x[place]
        x[place] = value + step
        above = function(x)
        x[place] = value - step
        below = function(x)
        x[place] = value
        gradient[place] = (above - below) / (2 * step)
        walk.iternext()
    return gradient

# %% [solution] *
