"""The model stays in training.

Loses:
    test_accuracy: in evaluation
Keeps:
    everything else
"""

# %% [solution] *

# %% accuracy
def accuracy(model, loader):
    right = count = 0
    with torch.no_grad():
        for X, y in loader:
            right += (model(X).argmax(dim=1) == y).sum().item()
            count += len(y)
    return right / count
