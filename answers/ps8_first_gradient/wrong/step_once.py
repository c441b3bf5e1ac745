"""The difference is divided by one step, not by two.

Loses:
    test_numerical_gradient: *
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        move = np.zeros(x.shape)
        move[place] = step
        gradient[place] = (function(x + move) - function(x - move)) / step
    return gradient

# %% [solution] *
