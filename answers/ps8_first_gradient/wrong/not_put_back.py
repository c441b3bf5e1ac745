"""Each entry stays moved, in the caller's own array.

Loses:
    test_numerical_gradient: other shapes, and x stays as it was
    test_numerical_gradient: the step, and matrices
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        x[place] += step
        above = function(x)
        x[place] -= 2 * step
        gradient[place] = (above - function(x)) / (2 * step)
    return gradient

# %% [solution] *
