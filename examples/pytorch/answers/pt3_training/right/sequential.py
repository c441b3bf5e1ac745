"""Sums of losses, logarithms of the softmax, and inference_mode."""

# %% [solution] *

# %% rings
class Rings(Dataset):
    def __init__(self, count, seed=0):
        self.points = torch.randn(count, 2, generator=torch.Generator().manual_seed(seed))
        self.classes = (self.points.pow(2).sum(1) > 1).long()

    def __len__(self):
        return self.points.shape[0]

    def __getitem__(self, place):
        return self.points[place], self.classes[place].item()

# %% train_epoch
def train_epoch(model, loader, optimizer):
    model.train()
    losses = torch.zeros(())
    for X, y in loader:
        loss = nn.NLLLoss(reduction="none")(model(X).log_softmax(-1), y)
        optimizer.zero_grad(set_to_none=False)
        loss.mean().backward()
        optimizer.step()
        losses += loss.detach().sum()
    return float(losses / len(loader.dataset))

# %% accuracy
@torch.inference_mode()
def accuracy(model, loader):
    model.train(False)
    right = [prediction == int(label) for X, y in loader for prediction, label in zip(model(X).max(1)[1].tolist(), y)]
    return sum(right) / len(right)
