"""The gradient is flat, whatever the shape of x.

Loses:
    test_numerical_gradient: the step, and matrices
    test_numerical_gradient: other shapes, and x stays as it was
Keeps:
    everything else
"""

# %% numerical_gradient
def numerical_gradient(function, x, step=1e-5):
    gradient = np.zeros(x.size)
    for i in range(x.size):
        move = np.zeros(x.size)
        move[i] = step
        move = move.reshape(x.shape)
        gradient[i] = (function(x + move) - function(x - move)) / (2 * step)
    return gradient

# %% [solution] *
