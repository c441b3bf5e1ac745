"""The largest logit is sought along the batch.

Loses:
    test_accuracy: three of four
    test_accuracy: batches of two sizes
    test_accuracy: in evaluation
    test_accuracy: without gradients
Keeps:
    everything else
"""

# %% [solution] *

# %% accuracy
def accuracy(model, loader):
    model.eval()
    right = count = 0
    with torch.no_grad():
        for X, y in loader:
            right += (model(X).argmax(dim=0) == y).sum().item()
            count += len(y)
    return right / count
