"""A one-sided difference.

Loses:
    test_numerical_gradient: the step, and matrices
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        moved = x.copy()
        moved[place] += step
        gradient[place] = (function(moved) - function(x)) / step
    return gradient

# %% [solution] *
