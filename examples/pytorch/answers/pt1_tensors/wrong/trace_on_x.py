"""x itself asks for a gradient, and gradients add up in it.

Loses:
    test_gradient: the same twice
    test_gradient: x keeps no trace
Keeps:
    everything else
"""

# %% [solution] *

# %% gradient
def gradient(function, x):
    x.requires_grad_(True)
    function(x).backward()
    return x.grad
