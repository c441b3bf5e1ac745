"""What is added was normalised.

Loses:
    test_block: as in NumPy
    test_block: the residual connections
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
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, mask=None):
        X = self.norm_1(X)
        Z = self.norm_2(X + self.dropout(self.heads(X, mask)[0]))
        return Z + self.dropout(self.out(torch.relu(self.into(Z))))
