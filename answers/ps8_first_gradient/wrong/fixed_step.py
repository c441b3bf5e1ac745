"""The argument step is not used.

Loses:
    test_numerical_gradient: the step, and matrices
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        move = np.zeros(x.shape)
        move[place] = 1e-5
        gradient[place] = (function(x + move) - function(x - move)) / 2e-5
    return gradient

# %% [solution] *
