"""The gradients of all batches add up.

Loses:
    test_train_epoch: the steps
    test_train_epoch: it learns
Keeps:
    everything else
"""

# %% [solution] *

# %% train_epoch
def train_epoch(model, loader, optimizer):
    model.train()
    total = count = 0
    for X, y in loader:
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        count += len(y)
    return total / count
