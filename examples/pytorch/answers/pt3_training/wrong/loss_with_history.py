"""The loss is a tensor.

Loses:
    test_train_epoch: the loss of an example
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
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        optimizer.step()
        total += loss * len(y)
        count += len(y)
    return total / count
