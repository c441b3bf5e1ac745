"""The loops go over the rows and columns of a matrix, or over the entries of a vector.

Loses:
    test_numerical_gradient: other shapes, and x stays as it was
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.shape)
    if x.ndim == 1:
        places = list(range(len(x)))
    else:
        places = [(i, j) for i in range(x.shape[0]) for j in range(x.shape[1])]
    for place in places:
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step
        gradient[place] = (function(above) - function(below)) / (2 * step)
    return gradient

# %% [solution] *
