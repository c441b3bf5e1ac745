"""The state of the library: random numbers, whether gradients are recorded, the default dtype. And what holds in every
process that grades: one thread, and loaders without processes of their own.
"""

from __future__ import annotations

import contextlib
import functools
import struct
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from viva.engine.values.streams import WORDS, Place, Stream
from viva.verdict import WireError
from viva_ml.torch.tensors import DTYPES

LAYOUT = struct.Struct(f"<Qii Q{WORDS}Q ddd i4x f?3x")
"""The state of a Mersenne Twister as ``torch.get_rng_state`` gives it: seed, how many words are left, whether it was
seeded, the next word, the words; three numbers of a spare normal one and whether there is one; another of float."""
FLOATS = ("float32", "float64", "float16", "bfloat16")

State = tuple[bytes, bool, str]


def get_state() -> State:
    name = str(torch.get_default_dtype()).removeprefix("torch.")
    return torch.get_rng_state().numpy().tobytes(), torch.is_grad_enabled(), name


def set_state(state: Any, with_dtype: bool, stream: Stream | None = None) -> None:
    """Take over a state; the default dtype only where that is the test's, as with a coarser one more would be equal.

    With the ``stream`` of the candidate's generator its random numbers count only where drawing leads to them.

    Raises WireError for what no generator ever was."""
    data, recording, name = state
    if type(data) is not bytes or type(recording) is not bool or name not in FLOATS:
        raise WireError("the random state of torch is not valid")
    place = place_of(data)
    if stream is None or stream.follows(place, [seeded(LAYOUT.unpack(data)[0])]):
        torch.set_rng_state(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    torch.set_grad_enabled(recording)
    if with_dtype:
        torch.set_default_dtype(DTYPES[name])


def place_of(data: bytes) -> Place:
    """Where a generator is in its stream. Raises WireError for what no generator ever was."""
    if len(data) != LAYOUT.size:
        raise WireError("the random state of torch is not valid")
    _, left, is_seeded, following, *more = LAYOUT.unpack(data)
    words, (_, double, _, has_double, single, has_single) = np.array(more[:WORDS], np.uint64), more[WORDS:]
    # A seeded generator has drawn all of its block, one that goes on those before the next word.
    drawn = WORDS if (left, following) == (1, 0) else following
    if left != max(1, WORDS + 1 - drawn) or not 0 < drawn <= WORDS or is_seeded != 1 or has_double not in (0, 1):
        raise WireError("the random state of torch is not valid")
    if words.max() >> np.uint64(32):
        raise WireError("the random state of torch is not valid")
    spares = double if has_double else None, single if has_single else None
    return Place(words.astype(np.uint32).tobytes(), drawn, spares)


@functools.lru_cache(16)
def seeded(seed: int) -> Place:
    """Where the stream of a seed, which stands in each state, begins. Its lower 32 bits count, as NumPy takes them."""
    state: Any = np.random.RandomState(seed & 0xFFFFFFFF).get_state()
    return Place(state[1].tobytes(), WORDS, (None, None))


def of_double(words: np.ndarray) -> np.ndarray:
    """The spare number of float64 that ``normal_distribution`` keeps of each four words (n - 3,): Box and Muller."""
    high, low = words[:-1].astype(np.uint64), words[1:].astype(np.uint64)
    numbers = (((high << np.uint64(32)) | low) & np.uint64(2**53 - 1)) / 2**53
    return _spare(numbers[:-2], numbers[2:])


def of_single(words: np.ndarray) -> np.ndarray:
    """The spare number of float32 that it keeps of each two words (n - 1,)."""
    numbers = (words & np.uint32(2**24 - 1)) / 2**24
    return _spare(numbers[:-1], numbers[1:])


def _spare(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.sqrt(-2 * np.log1p(-second)) * np.sin(2 * np.pi * first)


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
