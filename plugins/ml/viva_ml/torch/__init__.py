"""PyTorch: tensors cross by value; what has a history, weights and modules are shared.

tensors       codecs of tensors without a history, and of sizes, dtypes and devices
torchsharing  weights, histories, modules, data sets and loaders: what both sides know by one number
likenesses    what stands for a module of the other side: a real ``nn.Module``
comparisons   what differed, where a test's comparison of tensors failed
torchstate    the library's state: random numbers, whether gradients are recorded; one thread, no worker processes
"""

from viva_ml.torch import tensors, torchstate
from viva_ml.torch.torchsharing import TorchSharing

torchstate.prepare()
CODECS = (*tensors.CODECS, TorchSharing)
