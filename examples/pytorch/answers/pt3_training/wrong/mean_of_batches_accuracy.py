"""The mean of the batches' shares.

Loses:
    test_accuracy: batches of two sizes
Keeps:
    everything else
"""

# %% [solution] *

# %% accuracy
def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        shares = [(model(X).argmax(dim=1) == y).float().mean().item() for X, y in loader]
    return sum(shares) / len(shares)
