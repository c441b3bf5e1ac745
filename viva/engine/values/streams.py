"""Streams: whether a state of a Mersenne Twister that a stranger tells follows from one that is known.

Theory of operation. The global generators of Python, NumPy and PyTorch are the same machine (MT19937, Matsumoto and
Nishimura 1998): a block of 624 words, from which the next block follows. To draw is to go on in it, whatever is drawn
and how often. So a told state is right if its block comes up when a known block, or that of a seed, is followed.
Nothing else about it has to be believed, and nobody can make one up from which a test draws what an answer wants. A
spare normal number has to come of words that were drawn on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

WORDS = 624
"""Words in a block."""
FEW, MOST = 2**20, 2**26
"""Words that are followed from each known place, and then again where none of them led there: some 5 and 300 ms."""
ROWS = 64
"""Blocks that are made at once."""
_SCRATCH = np.random.RandomState(0)

Spares = Callable[[np.ndarray], np.ndarray]
"""Gives, for words (n,) of a stream, the spare normal number that a generator keeps of each four of them (n - 3,)."""


@dataclass(frozen=True)
class Place:
    """A place in a stream: its ``block`` of 624 words as bytes, how many of them are drawn, and the unused normal
    numbers, None where there is none."""

    block: bytes
    position: int
    spares: tuple[float | None, ...] = (None,)


class Stream:
    """The stream of the other side's generator, as far as it is known."""

    def __init__(self, *kinds: Spares) -> None:
        """``kinds`` are the spare numbers that the generator may keep, one of each."""
        self.kinds = kinds
        self.places: list[Place] = []
        """Where it was last, and where it began."""
        self.lost = False
        """Whether it has gone where nobody can follow: by a seed from the system, say."""

    def at(self, place: Place) -> None:
        """It is at this place, and whoever says so is trusted."""
        self.places, self.lost = [place, place], False

    def follows(self, place: Place, seeds: Iterable[Place] = (), *, unknown_seed: bool = False) -> bool:
        """Whether drawing leads to a place: from where the stream was, from where it began, or from one of ``seeds``.

        If so, it is there from now on. Nothing is searched for behind a seed that nobody knows.
        """
        seeds = [*seeds]
        starts = dict.fromkeys([*self.places, *seeds])
        lost = unknown_seed or (self.lost and not seeds)
        for most in (0,) if lost else (0, FEW, MOST):
            for start in starts:
                if self._leads(start, place, most):
                    self.places = [place, start if start in seeds else self.places[-1]]
                    self.lost = False
                    return True
        self.lost = True
        return False

    def _leads(self, start: Place, end: Place, most: int) -> bool:
        """Whether drawing at most so many words leads from one place to the other."""
        spares = [
            (kind, spare)
            for kind, spare, before in zip(self.kinds, end.spares, start.spares, strict=True)
            if spare is not None and spare != before
        ]
        if start.block == end.block and not spares:
            return True
        wanted, rest, rows, drawn = _tempered(end.block), np.empty(0, np.uint32), 1, start.position
        if most:
            _SCRATCH.set_state(("MT19937", np.frombuffer(start.block, np.uint32), 0, 0, 0.0))
        while most > 0:
            blocks = _SCRATCH.randint(0, 2**32, size=(rows, WORDS), dtype=np.uint32)
            same = (row for row in np.flatnonzero(blocks[:, 0] == wanted[0]) if np.array_equal(blocks[row], wanted))
            found = next(same, None)
            if spares:
                until = None if found is None else int(found) * WORDS + end.position
                rest = np.concatenate([rest, blocks.ravel()[drawn:until]])
                spares = [(kind, spare) for kind, spare in spares if not _is_among(kind, rest, spare)]
                rest = rest[-3:]
            if found is not None:
                return not spares
            most, rows, drawn = most - blocks.size, min(8 * rows, ROWS), 0
        return False


def _tempered(block: bytes) -> np.ndarray:
    """What is drawn from a block, (624,)."""
    words = np.frombuffer(block, np.uint32).copy()
    words ^= words >> 11
    words ^= (words << 7) & np.uint32(0x9D2C5680)
    words ^= (words << 15) & np.uint32(0xEFC60000)
    words ^= words >> 18
    return words


# --- the spare normal numbers; each drawing of two makes one that is used and one that is kept


def _is_among(kind: Spares, words: np.ndarray, spare: float) -> bool:
    if len(words) < 4 or not math.isfinite(spare):
        return False
    with np.errstate(all="ignore"):
        return bool(np.isclose(kind(words), spare, rtol=1e-5, atol=1e-6).any())


def _doubles(words: np.ndarray) -> np.ndarray:
    """The number in [0, 1) of 53 bits that Python and NumPy make of each word and the next (n - 1,)."""
    return ((words[:-1] >> 5) * 67108864.0 + (words[1:] >> 6)) / 2**53


def of_python(words: np.ndarray) -> np.ndarray:
    """``random.gauss``: Box and Muller."""
    numbers = _doubles(words)
    return np.sin(2 * np.pi * numbers[:-2]) * np.sqrt(-2 * np.log(1 - numbers[2:]))


def of_numpy(words: np.ndarray) -> np.ndarray:
    """``numpy.random.randn``: Marsaglia's polar method; NaN for a pair that is drawn again."""
    numbers = 2 * _doubles(words) - 1
    first, second = numbers[:-2], numbers[2:]
    square = first**2 + second**2
    return first * np.sqrt(-2 * np.log(square) / square)
