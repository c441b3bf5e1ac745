"""The model stays in the mode in which it comes.

Loses:
    test_train_epoch: in training
Keeps:
    everything else
"""

# %% [solution] *

# %% train_epoch
def train_epoch(model, loader, optimizer):
    total = count = 0
    for X, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        count += len(y)
    return total / count
