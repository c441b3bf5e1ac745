"""What the tests of this course share: comparisons of tensors, and weights that are the same for everybody."""

import torch


def agrees(result, expected, rtol=1e-4, atol=1e-5):
    """Whether two tensors have the same shape and, nearly, the same numbers."""
    expected = torch.as_tensor(expected, dtype=torch.float32)
    if not isinstance(result, torch.Tensor) or result.shape != expected.shape:
        return False
    return torch.allclose(result.detach().to(torch.float32), expected, rtol=rtol, atol=atol)


def draw(*shape, seed):
    """A tensor of normally distributed numbers, the same for each seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def fill(module, seed):
    """Write numbers into all parameters of a module, in place and in the order of their names."""
    with torch.no_grad():
        for place, (name, parameter) in enumerate(sorted(module.named_parameters())):
            parameter.copy_(0.5 * draw(*parameter.shape, seed=seed + place))
    return module


def weights(module):
    """A copy of all parameters of a module, by name."""
    return {name: parameter.detach().clone() for name, parameter in module.named_parameters()}
