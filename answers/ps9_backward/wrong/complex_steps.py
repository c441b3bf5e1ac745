"""Nothing is derived: the gradients of the linear layer and of the softmax are had by complex steps.

Loses:
    test_linear_backward: *
    test_softmax_backward: both terms
    test_softmax_backward: scores of minus infinity
    test_softmax_backward: other sizes, and arguments that stay as they were
Keeps:
    everything else
"""

# %% linear_backward
def by_complex_steps(layer, d_Y, *arguments):
    gradients = []
    for number, argument in enumerate(arguments):
        moved, gradient = [np.array(one, dtype=complex) for one in arguments], np.zeros(argument.shape)
        for place in np.ndindex(argument.shape):
            moved[number][place] += 1e-30j
            gradient[place] = np.sum(d_Y * layer(*moved)).imag / 1e-30
            moved[number][place] = argument[place]
        gradients.append(gradient)
    return gradients


def linear_backward(d_Y, X, W, b):
    return by_complex_steps(linear, d_Y, X, W, b)

# %% softmax_backward
def softmax_backward(d_A, S):
    return by_complex_steps(softmax, d_A, S)[0]

# %% [solution] *
