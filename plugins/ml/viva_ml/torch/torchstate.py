"""The state of the library: random numbers, whether gradients are recorded, the default dtype. And what holds in every
process that grades: one thread, and loaders without processes of their own.
"""

from __future__ import annotations

import contextlib
import math
import struct
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from viva.verdict import WireError
from viva_ml.torch.tensors import DTYPES

WORDS = 624
LAYOUT = struct.Struct(f"<Qii Q{WORDS}Q ddd i4x f?3x")
"""The state of a Mersenne Twister as ``torch.get_rng_state`` gives it: seed, how many words are left, whether it was
seeded, the next word, the words; three numbers of a spare normal one and whether there is one; another of float."""
FLOATS = ("float32", "float64", "float16", "bfloat16")
SPARE = 12.01

State = tuple[bytes, bool, str]


def get_state() -> State:
    name = str(torch.get_default_dtype()).removeprefix("torch.")
    return torch.get_rng_state().numpy().tobytes(), torch.is_grad_enabled(), name


def set_state(state: Any, with_dtype: bool) -> None:
    """Take over a state; the default dtype only where that is the test's, as with a coarser one more would be equal.

    Raises WireError for what no generator ever was."""
    data, recording, name = state
    if type(data) is not bytes or type(recording) is not bool or name not in FLOATS:
        raise WireError("not a state of torch")
    check(data)
    torch.set_rng_state(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    torch.set_grad_enabled(recording)
    if with_dtype:
        torch.set_default_dtype(DTYPES[name])


def check(data: bytes) -> None:
    """Raises WireError for the bytes of a state from which nothing random would come."""
    if len(data) != LAYOUT.size:
        raise WireError("not a state of torch's generator")
    _, left, seeded, following, *more = LAYOUT.unpack(data)
    words, (*spares, has_spare, spare, _) = np.array(more[:WORDS], np.uint64), more[WORDS:]
    if not (0 < left <= WORDS and seeded == 1 and following <= WORDS and has_spare in (0, 1)):
        raise WireError("not a state of torch's generator")
    if len(set(words.tolist())) < WORDS // 2 or words.max() >> np.uint64(32):
        raise WireError("a random state without randomness")
    if not all(math.isfinite(one) and abs(one) < SPARE for one in (*spares, spare)):
        raise WireError("a random state with an unused number")


def prepare() -> None:
    """Load and settle what each fork would otherwise do for itself."""
    with contextlib.suppress(Exception):
        import torch._dynamo
    torch.set_num_threads(1)
    with contextlib.suppress(RuntimeError):
        torch.set_num_interop_threads(1)
    setattr(DataLoader, "_get_iterator", _without_workers(DataLoader._get_iterator))  # noqa: B010  # mypy refuses the assignment where PyTorch is installed


def _without_workers(get_iterator: Any) -> Any:
    """A sandboxed process starts no others: a loader loads by itself what its workers would."""

    def alone(loader: Any) -> Any:
        fields = vars(loader)
        told = {name: fields.get(name) for name in ("num_workers", "timeout", "prefetch_factor")}
        fields |= {"num_workers": 0, "timeout": 0, "prefetch_factor": None}
        try:
            return get_iterator(loader)
        finally:
            fields |= told

    return alone
