"""With the functions of the library, and a gradient by torch.autograd.grad."""

# %% [solution] *

# %% standardise
def standardise(X, eps=1e-5):
    return (X - torch.mean(X, 0)) * torch.rsqrt(X.var(0, correction=0) + eps)

# %% distances
def distances(A, B):
    return torch.cdist(A, B, compute_mode="donot_use_mm_for_euclid_dist")

# %% gradient
def gradient(function, x):
    x = torch.tensor(x.tolist(), requires_grad=True)
    return torch.autograd.grad(function(x), x)[0]

# %% descend
def descend(function, start, rate, steps):
    x, values = start, []
    for _ in range(steps):
        x = x.detach().requires_grad_()
        value = function(x)
        values += [float(value.detach())]
        x = x - rate * torch.autograd.grad(value, x)[0]
    return x.detach(), values
