"""The loss is the sum of the batch.

Loses:
    test_train_epoch: the loss of an example
    test_train_epoch: the steps
Keeps:
    everything else
"""

# %% [solution] *

# %% train_epoch
def train_epoch(model, loader, optimizer):
    model.train()
    total = count = 0
    for X, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y, reduction="sum")
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        count += len(y)
    return total / count
