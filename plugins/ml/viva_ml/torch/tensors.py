"""Tensors as parts: the name of the dtype, the bytes, the shape.

Only what has no history and records none crosses so; strides and devices do not cross. A tensor of a subclass is read
by the library's own methods, so that none of a student's runs. What arrives is checked before anything is allocated.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad

from viva.engine.values.codec import BYTES, DIMENSIONS, EMPTY, Codec
from viva.verdict import WireError

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    )
}
ALL = {str(one): one for one in vars(torch).values() if isinstance(one, torch.dtype)}
REQUIRES_GRAD: Any = torch.Tensor.requires_grad
"""The library's own, whatever a student's class has by this name."""
equal = torch.equal
"""The library's own; ``comparisons`` puts another in its place, which listens to tests."""
DEVICE = re.compile(r"(cpu|cuda|mps|meta|xpu)(:\d{1,3})?")


def bare(value: Any) -> torch.Tensor:
    """The same tensor as one of the library's class, without its history."""
    with torch._C.DisableTorchFunctionSubclass():
        return torch.Tensor.detach(torch.Tensor.as_subclass(value, torch.Tensor))


def records(value: Any) -> bool:
    """Whether a tensor has a history, or is the begin of one."""
    with torch._C.DisableTorchFunctionSubclass():
        return REQUIRES_GRAD.__get__(value)


def check_single(value: Any) -> None:
    """Raises WireError for a tensor that torch.func or forward mode differentiates: a copy has no derivative."""
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise WireError("a tensor of torch.func (grad, vmap) cannot pass between processes")
    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(value).tangent is not None:
        raise WireError("a tensor with a tangent (forward_ad) cannot pass between processes")


def octets(plain: torch.Tensor) -> torch.Tensor:
    """The bytes of a plain tensor, in order."""
    # A copy: of one entry that was expanded, as a gradient of a sum is, a stride of 0 counts as contiguous.
    flat = plain.reshape(-1)
    flat = flat if flat.stride() == (1,) else flat.clone(memory_format=torch.contiguous_format)
    return flat.contiguous().view(torch.uint8)


def split(value: Any) -> list | None:
    """The parts of a tensor; None where it cannot be copied so. Raises WireError for one that cannot cross at all."""
    check_single(value)
    if records(value):
        return None
    plain = bare(value)
    name = str(plain.dtype).removeprefix("torch.")
    if name not in DTYPES or plain.layout != torch.strided or plain.device.type != "cpu":
        return None
    size = plain.numel() * plain.element_size()
    if size > BYTES:  # an expanded tensor can claim any size
        raise WireError(f"a tensor of shape {tuple(plain.shape)} is larger than {BYTES} bytes")
    check_shape([*plain.shape], size)
    plain = plain.resolve_conj().resolve_neg()
    return [name, octets(plain).numpy().tobytes(), *plain.shape]


def build(parts: list) -> torch.Tensor:
    """A new tensor; WireError when the parts do not fit each other."""
    name, data, *shape = parts
    if type(name) is not str or name not in DTYPES or type(data) is not bytes:
        raise WireError("a message holds a tensor of a type that cannot be sent")
    if any(type(length) is not int or length < 0 for length in shape):
        raise WireError("a message holds a tensor of an impossible shape")
    check_shape(shape, len(data))
    dtype = DTYPES[name]
    if math.prod(shape) * dtype.itemsize != len(data):
        raise WireError(f"a message holds {len(data)} bytes for a tensor of another size")
    if dtype is torch.bool and data.translate(None, b"\0\1"):
        raise WireError("a message holds bytes that are not valid bool")
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape).clone()


def check_shape(shape: list[int], size: int) -> None:
    """Raises WireError for a shape that the library could not hold."""
    if len(shape) > DIMENSIONS:
        raise WireError(f"a tensor of {len(shape)} dimensions cannot be sent; the limit is {DIMENSIONS}")
    if not size and math.prod(length or 1 for length in shape) > EMPTY:
        raise WireError("an empty tensor has dimensions too large to be sent")


def fill(mine: torch.Tensor, theirs: torch.Tensor) -> None:
    """Give a tensor the contents of another, and whether its gradient is recorded."""
    with torch.no_grad():
        if mine.shape == theirs.shape and mine.dtype == theirs.dtype:
            mine.data.copy_(theirs.data)
        else:
            mine.data = theirs.data
        if mine.is_leaf and (mine.is_floating_point() or mine.is_complex()) and records(mine) != records(theirs):
            mine.requires_grad_(records(theirs))


def array(value: torch.Tensor) -> np.ndarray | None:
    """The array that has the memory of a tensor; None for what NumPy does not hold."""
    plain = bare(value)
    if plain.layout != torch.strided or plain.device.type != "cpu" or plain.dtype is torch.bfloat16:
        return None
    return plain.resolve_conj().resolve_neg().numpy()


def is_same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    """Whether two plain tensors hold the same bytes."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and one.dtype == other.dtype and equal(octets(one), octets(other))


def _named(cls: Any) -> Codec:
    """The codec of what ``torch.max`` and the like give, as far as all of it is plain."""

    def parts(value: Any) -> list | None:
        items = [*tuple.__iter__(value)]
        return None if any(isinstance(one, torch.Tensor) and records(one) for one in items) else items

    return Codec((cls,), parts, cls)


def _size(parts: list) -> torch.Size:
    if any(length < 0 for length in parts):
        raise WireError("a message holds a negative size")
    return torch.Size(parts)


def _device(parts: list) -> torch.device:
    (name,) = parts
    if not DEVICE.fullmatch(name):
        raise WireError("a message holds an unknown device")
    return torch.device(name)


RETURNED = {cls.__name__: cls for cls in vars(torch.return_types).values() if isinstance(cls, type)}
"""What ``torch.max`` and the like give, by name; some have two classes."""
PARTS = frozenset((str, bytes, int))
CODECS = (
    Codec((torch.Tensor,), split, build, PARTS, fill, torch.Tensor.numel, records, array),
    Codec(
        (torch.nn.Parameter,),
        split,
        lambda parts: torch.nn.Parameter(build(parts), requires_grad=False),
        PARTS,
        fill,
        torch.Tensor.numel,
        records,
        array,
    ),
    Codec((torch.Size,), lambda value: [*tuple.__iter__(value)], _size, frozenset((int,))),
    Codec((torch.dtype,), lambda value: [str(value)], lambda parts: ALL[parts[0]], frozenset((str,))),
    Codec((torch.device,), lambda value: [str(value)], _device, frozenset((str,))),
    *map(_named, RETURNED.values()),
)
