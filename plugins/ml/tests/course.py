"""Test cells in the style of public PyTorch courses: for each thing that tests use, as they use it."""

GIVEN = '''
import copy
import io
import os
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def fill(model, value=0.1):
    """Known weights in every layer."""
    for layer in model.modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            nn.init.constant_(layer.weight, value)
            if layer.bias is not None:
                layer.bias.data.zero_()

def walk(model):
    return [(name, type(layer).__name__) for name, layer in model.named_modules() if not list(layer.children())]

def numeric(f, x, eps=1e-4):
    found = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros_like(x).view(-1)
        step[i] = eps
        found.view(-1)[i] = (f(x + step.view_as(x)) - f(x - step.view_as(x))) / (2 * eps)
    return found

class Checker:
    def __init__(self, model):
        self.model, self.seen = model, []
        self.hook = model.register_forward_hook(lambda module, args, out: self.seen.append(tuple(out.shape)))
'''
ANSWER = """
class MLP(nn.Module):
    def __init__(self, sizes, p=0.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.dropout = nn.Dropout(p)
        self.sizes = sizes
    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.dropout(F.relu(layer(x)))
        return self.layers[-1](x)
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Linear(d, d, bias=False) for _ in range(3))
    def forward(self, x, mask=None):
        scores = self.wq(x) @ self.wk(x).transpose(-1, -2) / x.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        return weights @ self.wv(x), weights
class Block(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.norm = inner, nn.BatchNorm1d(4)
    def forward(self, x):
        return self.norm(x + self.inner(x))
class Pairs(Dataset):
    def __init__(self, n): self.x = torch.arange(n, dtype=torch.float32).view(-1, 1)
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], 2 * self.x[i]
def softmax(x): return x.exp() / x.exp().sum(-1, keepdim=True)
def accuracy(logits, y): return (logits.argmax(-1) == y).float().mean().item()
def make_loaders(data, batch): return DataLoader(data, batch, shuffle=True), DataLoader(data, batch)
def make_optimizer(model, lr): return torch.optim.AdamW(model.parameters(), lr=lr)
def train_epoch(model, loader, loss_fn, optimizer):
    model.train()
    total = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)
@torch.no_grad()
def evaluate(model, loader, loss_fn):
    model.eval()
    return sum(loss_fn(model(x), y).item() for x, y in loader) / len(loader)
def freeze(model):
    for p in model.parameters():
        p.requires_grad = False
    return model
class SGD:
    def __init__(self, params, lr): self.params, self.lr = list(params), lr
    def zero_grad(self):
        for p in self.params: p.grad = None
    def step(self):
        with torch.no_grad():
            for p in self.params: p -= self.lr * p.grad
model = MLP([4, 8, 3])
history = [0.5, 0.4]
"""
CELLS = {
    "model called, shape": """
model = MLP([4, 8, 3]).to(device)
x = torch.randn(5, 4, device=device)
assert model(x).shape == (5, 3) and model(x).size(0) == 5
""",
    "known weights by a helper": """
m = MLP([4, 8, 3]); fill(m)
m.eval()
with torch.no_grad():
    out = m(torch.ones(2, 4))
assert torch.allclose(out, torch.full((2, 3), 0.32))
""",
    "weights in place": """
a = Attention(2)
with torch.no_grad():
    a.wq.weight.copy_(torch.eye(2)); a.wk.weight.copy_(torch.eye(2)); a.wv.weight[...] = torch.eye(2)
out, weights = a(torch.eye(2).unsqueeze(0))
expected = F.scaled_dot_product_attention(*[torch.eye(2).unsqueeze(0)] * 3)
assert torch.allclose(out, expected, atol=1e-6)
assert torch.allclose(weights.sum(-1), torch.ones(1, 2))
""",
    "weights by .data": """
a = Attention(2)
for p in a.parameters():
    p.data = torch.zeros_like(p.data)
assert torch.equal(a(torch.ones(1, 3, 2))[0], torch.zeros(1, 3, 2))
""",
    "a mask": """
torch.manual_seed(1)
a = Attention(4)
mask = torch.tril(torch.ones(3, 3)).bool()
out, w = a(torch.randn(1, 3, 4), mask)
assert (w[0][~mask] == 0).all() and w.detach().numpy().shape == (1, 3, 3)
""",
    "parameters counted and walked": """
m = MLP([4, 8, 3])
assert sum(p.numel() for p in m.parameters()) == 67
assert [kind for _, kind in walk(m)] == ["Linear", "Linear", "Dropout"]
assert len(list(m.children())) == 2 and m.layers[0].out_features == 8
assert all(p.requires_grad for _, p in m.named_parameters())
""",
    "state_dict, save and load": """
m, other = MLP([2, 2]), MLP([2, 2])
buffer = io.BytesIO()
torch.save(m.state_dict(), buffer); buffer.seek(0)
other.load_state_dict(torch.load(buffer))
assert torch.equal(m(torch.ones(1, 2)), other(torch.ones(1, 2)))
""",
    "train and eval": """
m = MLP([4, 50, 3], p=0.5)
x = torch.ones(1, 4)
m.train()
assert not torch.equal(m(x), m(x))
m.eval()
assert torch.equal(m(x), m(x)) and not m.training
""",
    "the test's module in the student's": """
class Double(nn.Module):
    def forward(self, x): return 2 * x
b = Block(Double())
assert isinstance(b.inner, Double)
out = b(torch.randn(8, 4))
assert out.mean().abs() < 1e-5
b.inner = nn.Identity()
b.eval()
assert b(torch.ones(1, 4)).shape == (1, 4)
""",
    "buffers": """
b = Block(nn.Identity())
before = b.norm.running_mean.clone()
b(torch.ones(8, 4))
assert not torch.equal(before, b.norm.running_mean)
""",
    "loaders": """
train, test = make_loaders(TensorDataset(torch.arange(10.0).view(-1, 1), torch.arange(10)), 4)
assert len(train) == 3 and [len(y) for _, y in test] == [4, 4, 2]
x, y = next(iter(test))
assert x.dtype == torch.float32 and y.tolist() == [0, 1, 2, 3]
assert sorted(int(v) for _, y in train for v in y) == list(range(10))
""",
    "data sets": """
data = Pairs(4)
assert len(data) == 4 and data[3][1].item() == 6
for x, y in DataLoader(data, batch_size=2):
    assert torch.equal(2 * x, y)
assert [int(x) for x, _ in [data[i] for i in range(len(data))]] == [0, 1, 2, 3]
""",
    "training": """
torch.manual_seed(0)
m = MLP([1, 8, 1])
loader = DataLoader(Pairs(4), batch_size=2)
opt = torch.optim.SGD(m.parameters(), lr=0.01)
before = evaluate(m, loader, nn.MSELoss())
for _ in range(5):
    train_epoch(m, loader, nn.MSELoss(), opt)
assert evaluate(m, loader, nn.MSELoss()) < before and not m.training
""",
    "training of the test's module": """
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
start = copy.deepcopy(m.state_dict())
x = torch.linspace(-1, 1, 8).view(-1, 1)
train_epoch(m, DataLoader(TensorDataset(x, x), batch_size=4), nn.MSELoss(), torch.optim.Adam(m.parameters(), lr=0.1))
assert any(not torch.equal(start[k], v) for k, v in m.state_dict().items())
""",
    "optimizers": """
m = MLP([2, 2])
opt = make_optimizer(m, 0.01)
assert isinstance(opt, torch.optim.AdamW) and opt.param_groups[0]["lr"] == 0.01
m(torch.ones(1, 2)).sum().backward()
before = [p.clone() for p in m.parameters()]
opt.step(); opt.zero_grad()
assert all(not torch.equal(a, b) for a, b in zip(before, m.parameters()))
""",
    "an optimizer of the student's": """
w = nn.Parameter(torch.tensor([1.0, 2.0]))
opt = SGD([w], lr=0.5)
(w ** 2).sum().backward()
opt.step()
assert torch.allclose(w, torch.zeros(2))
opt.zero_grad()
assert w.grad is None
""",
    "gradients": """
x = torch.tensor([[0.5, -1.0]], requires_grad=True)
y = softmax(x)[0, 0]
y.backward()
expected = numeric(lambda x: softmax(x)[0, 0].item(), x.detach().double())
assert torch.allclose(x.grad.double(), expected, atol=1e-4)
""",
    "gradients at the weights": """
m = MLP([3, 1]); fill(m)
loss = F.mse_loss(m(torch.ones(1, 3)), torch.zeros(1, 1))
loss.backward()
assert torch.allclose(m.layers[0].weight.grad, torch.full((1, 3), 0.6))
m.zero_grad()
""",
    "numbers": """
assert accuracy(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1])) == 0.5
assert abs(softmax(torch.zeros(1, 4)).sum().item() - 1) < 1e-6
torch.testing.assert_close(softmax(torch.tensor([[1.0, 2.0]])), F.softmax(torch.tensor([[1.0, 2.0]]), dim=-1))
assert softmax(torch.zeros(1, 2)).cpu().numpy().tolist() == [[0.5, 0.5]]
""",
    "frozen": """
m = freeze(MLP([2, 2, 2]))
assert not any(p.requires_grad for p in m.parameters())
own = freeze(nn.Linear(2, 2))
assert not own.weight.requires_grad
""",
    "a global model": """
assert isinstance(model, nn.Module) and model.sizes == [4, 8, 3]
assert model(torch.zeros(1, 4)).shape == (1, 3) and history[-1] < history[0]
print(model)
""",
    "a helper with a hook": """
m = MLP([4, 8, 3])
check = Checker(m.layers[0])
m(torch.ones(2, 4))
assert check.seen == [(2, 8)]
""",
    "patched": """
calls = []
before = F.relu
F.relu = lambda x: calls.append(1) or before(x)
try:
    MLP([2, 2, 2])(torch.ones(1, 2))
finally:
    F.relu = before
assert calls
""",
}
NOTEBOOK = f"--- given{GIVEN}--- answer{ANSWER}" + "".join(f"--- test{cell}" for cell in CELLS.values())
