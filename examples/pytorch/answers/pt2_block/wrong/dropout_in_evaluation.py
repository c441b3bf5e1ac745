"""The function drops in evaluation too.

Loses:
    test_block: dropout
    test_block: saved and loaded
Keeps:
    everything else
"""

# %% [solution] *

# %% block
class Block(nn.Module):
    def __init__(self, d_model, d_k, d_v, d_ff, H, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.heads = Heads(d_model, d_k, d_v, H)
        self.into, self.out = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.p = dropout

    def forward(self, X, mask=None):
        Z = X + nn.functional.dropout(self.heads(self.norm_1(X), mask)[0], self.p)
        return Z + nn.functional.dropout(self.out(torch.relu(self.into(self.norm_2(Z)))), self.p)
