"""Notebooks in PyTorch, in the style of real courses' test cells."""

TENSORS = {
    "plain tensors of all kinds": """
--- given
import torch
--- answer
def double(x):
    return x * 2
--- test
assert torch.equal(double(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]))
assert double(torch.ones(2, 3)).shape == torch.Size([2, 3])
assert double(torch.ones(2, 3)).size(1) == 3
assert double(torch.ones(2, dtype=torch.bfloat16)).dtype == torch.bfloat16
assert double(torch.tensor(3)).item() == 6
assert torch.allclose(double(torch.arange(6.0).view(2, 3).t()), torch.tensor([[0.0, 6], [2, 8], [4, 10]]))
assert double(torch.empty(0, 3)).shape == (0, 3)
assert double(torch.ones(2).expand(3, 2)).sum() == 12
assert double([torch.ones(1)])[1].tolist() == [1.0]
assert isinstance(double(torch.ones(1)), torch.Tensor)
assert double(torch.ones(2)).numpy().tolist() == [2.0, 2.0]
assert double(torch.ones(2)).device == torch.device("cpu")
--- right
def double(x):
    return x + x
--- wrong
def double(x):
    return x * 3
--- wrong
def double(x):
    return [1] if isinstance(x, list) else x.double() * 2
""",
    "a tensor that a function changes in place": """
--- given
import torch
--- answer
def clip(x):
    x.clamp_(0, 1)
    return x
--- test
x = torch.tensor([-1.0, 0.5, 3.0])
y = clip(x)
assert torch.equal(x, torch.tensor([0.0, 0.5, 1.0]))
assert torch.equal(y, x)
--- wrong
def clip(x):
    return x.clamp(0, 1)
""",
    "what torch.max gives": """
--- given
import torch
--- answer
def top(x):
    return torch.max(x, dim=1)
def shape(x):
    return x.shape
--- test
values, places = top(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
assert values.tolist() == [5.0, 7.0] and places.tolist() == [1, 0]
assert top(torch.ones(2, 2)).values.shape == (2,)
assert shape(torch.ones(2, 3)).numel() == 6
--- wrong
def top(x):
    return torch.min(x, dim=1)
""",
    "what is settled before a submission comes": """
--- given
import torch
--- answer
import os, sys
early = "torch._dynamo" in sys.modules
torch.set_num_threads(4)
limit = os.environ["OMP_THREAD_LIMIT"]
--- test
assert early and limit == "1"
--- wrong
early, limit = False, "4"
""",
    "random numbers go on on the other side": """
--- given
import torch
--- answer
def noisy(x):
    return x + torch.randn(x.shape)
--- test
torch.manual_seed(3)
noise = torch.randn(2) * 0 + torch.randn(2)
torch.manual_seed(3)
torch.randn(2)
assert torch.equal(noisy(torch.zeros(2)), noise)
torch.manual_seed(5)
a = noisy(torch.zeros(2))
b = torch.randn(2)
torch.manual_seed(5)
assert torch.equal(a, torch.randn(2)) and torch.equal(b, torch.randn(2))
--- wrong
def noisy(x):
    return x + torch.rand(x.shape)
""",
    "right answers of another form": """
--- given
import torch
--- answer
def mean(x):
    return x.mean(dim=0)
--- test
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
assert torch.allclose(mean(x), torch.tensor([2.0, 3.0]))
torch.testing.assert_close(mean(x), torch.tensor([2.0, 3.0]), check_dtype=False)
--- right
w = torch.ones(2, requires_grad=True)
def mean(x):
    return torch.stack([x[:, i].sum() / len(x) for i in range(x.shape[1])]) * w.detach()
--- right
w = torch.ones(2, requires_grad=True)
def mean(x):
    return (x * w).mean(dim=0)
--- right
w = torch.ones(2, requires_grad=True)
def mean(x):
    with torch.no_grad():
        return (x * w).mean(dim=0)
--- right
class Mine(torch.Tensor):
    def more(self): return self + 1
def mean(x):
    return x.mean(dim=0).as_subclass(Mine)
--- wrong
def mean(x):
    return x.mean(dim=1)
""",
    "what is compared with numbers is a tensor": """
--- given
import torch
--- answer
def mean(x):
    return x.mean()
--- test
assert mean(torch.tensor([1.0, 2.0])) == 1.5
assert torch.equal(mean(torch.tensor([1.0, 3.0])), torch.tensor(2.0))
assert torch.allclose(mean(torch.tensor([1.0, 3.0])), torch.tensor(2.0))
--- wrong
def mean(x):
    return torch.tensor(float("nan"))
--- wrong
def mean(x):
    return torch.zeros(0)
""",
}

GRADIENTS = {
    "a gradient at a test's own leaf": """
--- given
import torch
--- answer
def square(x):
    return (x ** 2).sum()
--- test
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = square(x)
assert y.requires_grad and y.grad_fn is not None
y.backward()
assert torch.equal(x.grad, torch.tensor([2.0, 4.0]))
g, = torch.autograd.grad(square(x) * 2, x)
assert torch.equal(g, torch.tensor([4.0, 8.0]))
assert square(x).item() == 5.0 and square(x).detach().numpy() == 5.0
--- right
def square(x):
    return (x * x).sum()
--- wrong
def square(x):
    return (x.detach() ** 2).sum()
--- wrong
def square(x):
    return (x ** 2).sum().item()
""",
    "weights behind a tensor that a test passes": """
--- given
import torch
--- answer
def error(p, y):
    return ((p - y) ** 2).mean()
--- test
w = torch.tensor([2.0], requires_grad=True)
x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0])
loss = error(w * x, y)
assert torch.allclose(loss, torch.tensor(2.5)) and w.item() == 2
loss.backward()
assert torch.allclose(w.grad, torch.tensor([-5.0]))
--- right
def error(p, y):
    loss = ((p - y) ** 2).mean()
    loss.item()
    return loss
--- wrong
def error(p, y):
    return (p - y).abs().mean()
""",
    "a student's function asks the test's tensor to record its gradient": """
--- given
import torch
--- answer
def gradient(function, x):
    leaf = x.detach().clone().requires_grad_(True)
    function(leaf).backward()
    return leaf.grad
--- test
x = torch.tensor([1.0, 2.0])
assert torch.allclose(gradient(lambda v: (v ** 2).sum(), x), 2 * x)
y = torch.tensor([0.5])
assert torch.allclose(gradient(lambda v: torch.sin(v).sum(), y), torch.cos(y))
z = torch.tensor([0.5])
gradient(lambda v: v.sum(), z)
assert not z.requires_grad
--- right
def gradient(function, x):
    x.requires_grad_(True)
    function(x).backward()
    found = x.grad.clone()
    x.requires_grad_(False)
    return found
--- wrong
def gradient(function, x):
    x.requires_grad_(True)
    function(x).backward()
    return x.grad
""",
    "a student's function calls backward": """
--- given
import torch
--- answer
def slope(f, at):
    x = torch.tensor(at, requires_grad=True)
    f(x).backward()
    return x.grad.item()
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
--- test
assert slope(lambda x: x ** 3, 2.0) == 12.0
assert torch.equal(w.grad, 2 * w.detach()) and w.is_leaf
assert torch.equal(w.grad, torch.tensor([2.0, 4.0]))
--- wrong
def slope(f, at):
    return 0.0
w = torch.tensor([1.0, 2.0], requires_grad=True)
""",
}

MODULES = {
    "a module that a function of the test defines, set into the student's": """
--- given
import torch
from torch import nn
--- answer
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.first, self.cell = nn.Sequential(nn.Linear(2, n)), nn.GRUCell(n, n)
    def forward(self, x):
        for layer in self.first:
            x = layer(x)
        return self.cell(x)
--- test
def test_forward(Net):
    with torch.no_grad():
        net = Net(2)
        class Ones(nn.Module):
            def forward(self, x):
                return torch.ones(len(x), net.n)
        net.first = nn.Sequential(Ones())
        for name, layer in net.named_modules():
            if isinstance(layer, nn.GRUCell):
                for weight in layer.parameters():
                    weight.data.fill_(0.5)
        y = net(torch.zeros(3, 2))
        assert torch.allclose(y, torch.full((3, 2), 0.1144), atol=1e-3), y
test_forward(Net)
--- wrong
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.first, self.cell = nn.Sequential(nn.Linear(2, n)), nn.GRUCell(n, n)
    def forward(self, x):
        return self.cell(x)
""",
    "a student's module": """
--- given
import torch
from torch import nn
--- answer
class Net(nn.Module):
    def __init__(self, n, hidden=4):
        super().__init__()
        self.hidden = hidden
        self.fc1 = nn.Linear(n, hidden)
        self.fc2 = nn.Linear(hidden, 1, bias=False)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("mean", torch.zeros(n))
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.drop(x - self.mean))))
    def extra(self):
        return self.hidden + 1
--- test
### CHECK 1: shape
torch.manual_seed(0)
net = Net(3)
assert isinstance(net, nn.Module) and isinstance(net, Net) and isinstance(net.fc1, nn.Linear)
assert net(torch.ones(5, 3)).shape == (5, 1)
assert type(net).__name__ == "Net" and net.hidden == 4 and net.extra() == 5
assert sum(p.numel() for p in net.parameters() if p.requires_grad) == 3 * 4 + 4 + 4
assert [name for name, _ in net.named_parameters()] == ["fc1.weight", "fc1.bias", "fc2.weight"]
assert [name for name, _ in net.named_children()] == ["fc1", "fc2", "drop"]
assert len(list(net.modules())) == 4
assert set(net.state_dict()) == {"fc1.weight", "fc1.bias", "fc2.weight", "mean"}
assert net.fc1.in_features == 3 and net.fc1.weight.shape == (4, 3)
### CHECK 1: weights written in place
def fill(model, value):
    for p in model.parameters():
        p.data.fill_(value)
net.eval()
fill(net, 0.5)
assert torch.allclose(net(torch.ones(2, 3)), torch.full((2, 1), 4.0))
with torch.no_grad():
    net.fc1.bias.zero_()
    net.fc2.weight[...] = 1.0
    net.fc1.weight.copy_(torch.ones(4, 3))
    out = net(torch.ones(2, 3))
    assert not out.requires_grad
assert torch.allclose(out, torch.full((2, 1), 12.0))
net.fc2.weight = nn.Parameter(torch.zeros(1, 4))
assert net(torch.ones(1, 3)).item() == 0
net.load_state_dict({name: torch.ones_like(one) for name, one in net.state_dict().items()})
assert net(2 * torch.ones(1, 3)).item() == 16
### CHECK 1: modes
assert not net.training and not net.fc1.training
net.train()
assert net.training and net.drop.training
### CHECK 1: gradients
net.eval()
net.zero_grad()
loss = nn.MSELoss()(net(2 * torch.ones(1, 3)), torch.zeros(1, 1))
loss.backward()
assert net.fc2.weight.grad.shape == (1, 4) and net.fc1.weight.grad.abs().sum() > 0
before = net.fc1.weight.clone()
torch.optim.SGD(net.parameters(), lr=0.1).step()
assert not torch.equal(before, net.fc1.weight)
assert net(2 * torch.ones(1, 3)).item() != 16
--- right
class Net(nn.Module):
    def __init__(self, n, hidden=4):
        super().__init__()
        self.hidden = hidden
        self.fc1, self.fc2 = nn.Linear(n, hidden), nn.Linear(hidden, 1, bias=False)
        self.drop = nn.Dropout(0.3)
        self.register_buffer("mean", torch.zeros(n))
    def forward(self, x):
        x = self.drop(x - self.mean)
        return (x @ self.fc1.weight.T + self.fc1.bias).clamp(min=0) @ self.fc2.weight.T
    def extra(self):
        return 5
--- wrong
class Net(nn.Module):
    def __init__(self, n, hidden=4):
        super().__init__()
        self.hidden = hidden
        self.fc1 = nn.Linear(n, hidden)
        self.fc2 = nn.Linear(hidden, 1)
    def forward(self, x):
        return self.fc2(self.fc1(x))
    def extra(self):
        return self.hidden + 1
--- wrong
class Net:
    hidden = 4
    def __call__(self, x): return x
    def parameters(self): return []
""",
    "modules of the library": """
--- given
import torch
from torch import nn
--- answer
def make(kind):
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)) if kind == "mlp" else nn.GRU(4, 3, batch_first=True)
--- test
net = make("mlp")
assert isinstance(net, nn.Sequential) and len(net) == 2 and isinstance(net[0], nn.Linear)
assert net(torch.ones(5, 4)).shape == (5, 3) and net[0].weight.shape == (3, 4)
out, state = make("rnn")(torch.ones(2, 5, 4))
assert out.shape == (2, 5, 3) and state.shape == (1, 2, 3)
out.sum().backward()
--- right
def make(kind):
    return nn.Sequential(nn.LazyLinear(3), nn.BatchNorm1d(3)) if kind == "mlp" else nn.GRU(4, 3, batch_first=True)
--- wrong
def make(kind):
    return nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)) if kind == "mlp" else nn.RNN(4, 3)
""",
    "the test's own module": """
--- given
import torch
from torch import nn
--- answer
class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x) + x
def count(model):
    return sum(p.numel() for p in model.parameters())
def fit(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
--- test
### CHECK 1: a child
class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(2.0))
    def forward(self, x):
        return self.w * x
inner = Double()
wrapped = Wrapper(inner)
assert torch.equal(wrapped(torch.ones(2)), torch.full((2,), 3.0))
assert wrapped.inner is inner and count(wrapped) == 1
wrapped(torch.ones(2)).sum().backward()
assert inner.w.grad.item() == 2
wrapped.inner = nn.Identity()
assert wrapped(torch.ones(1)).item() == 2
### CHECK 1: training
torch.manual_seed(0)
model = nn.Linear(1, 1)
before = model.weight.clone()
loss = fit(model, torch.tensor([[1.0], [2.0]]), torch.tensor([[2.0], [4.0]]), 200)
assert loss < 0.01
assert not torch.equal(before, model.weight)
assert (model(torch.tensor([[3.0]])) - 6).abs().item() < 0.5
--- wrong
class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x)
def count(model):
    return sum(p.numel() for p in model.parameters())
def fit(model, x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
    return loss.item()
""",
}

LOADERS = {
    "a student's data set and loader": """
--- given
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset
--- answer
class Squares(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.tensor([float(i)]), float(i) ** 2
def loader(data, batch_size):
    return DataLoader(data, batch_size=batch_size, shuffle=False, num_workers=2)
--- test
data = Squares(5)
assert len(data) == 5 and data[2][1] == 4 and isinstance(data, Dataset)
batches = [x for x, y in loader(data, 2)]
assert [len(x) for x in batches] == [2, 2, 1] and batches[1].tolist() == [[2.0], [3.0]]
assert len(loader(data, 2)) == 3 and loader(data, 2).batch_size == 2
x, y = next(iter(loader(TensorDataset(torch.arange(4.0), torch.arange(4)), 4)))
assert x.sum() == 6 and y.dtype == torch.int64
assert [len(x) for x, y in DataLoader(data, batch_size=3)] == [3, 2]
--- wrong
class Squares(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.tensor([float(i)]), float(i)
def loader(data, batch_size):
    return DataLoader(data, batch_size=batch_size)
""",
    "the test's loader of a student's data set": """
--- given
import torch
from torch.utils.data import DataLoader, Dataset
--- answer
class Squares(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.tensor([float(i)]), i ** 2
def sums(loader):
    return [int(y.sum()) for _, y in loader]
--- test
assert sums(DataLoader(Squares(5), batch_size=2)) == [1, 13, 16]
assert sums(DataLoader(Squares(5), batch_size=2, drop_last=True, num_workers=2)) == [1, 13]
loader = DataLoader(Squares(50), batch_size=50, shuffle=True)
torch.manual_seed(3)
expected = [y.tolist() for _, y in loader]
assert sums(loader) == [sum(i ** 2 for i in range(50))] and sorted(expected[0]) == [i ** 2 for i in range(50)]
assert sums(DataLoader(Squares(4), batch_size=2, collate_fn=lambda pairs: (0, torch.tensor([len(pairs)])))) == [2, 2]
assert sums(DataLoader(Squares(4), sampler=[3, 1], batch_size=1)) == [9, 1]
torch.manual_seed(4)
sums(loader)
drawn = torch.rand(1)
torch.manual_seed(4)
list(loader)
assert torch.equal(drawn, torch.rand(1))
--- right
class Squares(Dataset):
    def __init__(self, n): self.all = [(torch.tensor([float(i)]), i * i) for i in range(n)]
    def __len__(self): return len(self.all)
    def __getitem__(self, i): return self.all[i]
def sums(loader):
    return [y.sum().item() for x, y in iter(loader)]
--- wrong
class Squares(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.tensor([float(i)]), i
def sums(loader):
    return [int(y.sum()) for _, y in loader]
""",
    "the test's loader, optimizer and loss": """
--- given
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
--- answer
def train(model, loader, criterion, optimizer):
    total = 0.0
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)
def make(model):
    return torch.optim.Adam(model.parameters(), lr=0.01)
--- test
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))
x = torch.linspace(0, 1, 8).view(-1, 1)
loader = DataLoader(TensorDataset(x, 2 * x), batch_size=4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = [train(model, loader, nn.MSELoss(), optimizer) for _ in range(5)]
assert losses[-1] < losses[0] and model.training
own = make(model)
assert isinstance(own, torch.optim.Adam) and own.param_groups[0]["lr"] == 0.01
own.zero_grad()
model(x).sum().backward()
before = model[0].weight.detach().clone()
own.step()
assert not torch.equal(before, model[0].weight)
--- wrong
def train(model, loader, criterion, optimizer):
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y).item() * len(x)
    return total / len(loader.dataset)
def make(model):
    return torch.optim.SGD(model.parameters(), lr=0.01)
""",
}
