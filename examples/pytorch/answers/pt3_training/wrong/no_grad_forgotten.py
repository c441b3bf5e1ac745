"""Gradients are recorded.

Loses:
    test_accuracy: without gradients
Keeps:
    everything else
"""

# %% [solution] *

# %% accuracy
def accuracy(model, loader):
    model.eval()
    right = count = 0
    if True:
        for X, y in loader:
            right += (model(X).argmax(dim=1) == y).sum().item()
            count += len(y)
    return right / count
