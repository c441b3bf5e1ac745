"""The weights are tensors: the module has no parameters.

Loses:
    test_heads: the parameters
    test_heads: as in NumPy
    test_heads: the mask
    test_heads: a batch, and other sizes
    test_heads: gradients reach all parameters
    test_block: the parts
    test_block: as in NumPy
    test_block: the residual connections
    test_block: saved and loaded
Keeps:
    everything else
"""

# %% [solution] *

# %% heads
class Heads(nn.Module):
    def __init__(self, d_model, d_k, d_v, H):
        super().__init__()
        self.W_q = (0.1 * torch.randn(H, d_model, d_k))
        self.W_k = (0.1 * torch.randn(H, d_model, d_k))
        self.W_v = (0.1 * torch.randn(H, d_model, d_v))
        self.W_o = (0.1 * torch.randn(H, d_v, d_model))

    def forward(self, X, mask=None):
        X = X[:, None]
        scores = (X @ self.W_q) @ (X @ self.W_k).transpose(-1, -2) / self.W_k.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return (weights @ (X @ self.W_v) @ self.W_o).sum(dim=1), weights
