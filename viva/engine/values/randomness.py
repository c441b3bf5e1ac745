"""The global random state of ``random`` and ``numpy.random``, as plain values that may come from a stranger.

Both sides of the dialogue tell what is new of it: a part of no words, Python's or NumPy's, says nothing. To read and
to set both parts takes longer than all else about a question. The examiner takes over only a state to which drawing
leads, from one that it knows or from a seed that the candidate names (``streams``). Else it keeps its own.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import random
import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from viva.engine.values.streams import WORDS, Place, Stream, of_numpy, of_python

State = tuple[bytes, float | None, bytes, int, int, float]
NO_PYTHON, NO_NUMPY = (b"", None), (b"", 0, 0, 0.0)


def get_state() -> State:
    """Both states: Python's words and spare Gaussian; NumPy's words, position, whether it has a spare Gaussian, and it.

    NumPy's part is empty when the notebook has given NumPy another generator.
    """
    _, words, gauss = random.getstate()
    key: Any
    try:
        name, key, position, has_gauss, spare = np.random.get_state()
        standard = name == "MT19937"
    except (TypeError, ValueError):
        standard = False
    numpy_state = (key.tobytes(), int(position), int(has_gauss), float(spare)) if standard else NO_NUMPY
    return (array("I", words).tobytes(), gauss, *numpy_state)


def news(state: State, previous: State | tuple[()]) -> State:
    """The parts of a state that are new to a side that knows another, or none."""
    python, numpy = state[:2], state[2:]
    return (*(NO_PYTHON if python == previous[:2] else python), *(NO_NUMPY if numpy == previous[2:] else numpy))


def with_news(previous: State | tuple[()], update: State) -> State:
    """The state that is known after something was told."""
    python, numpy = update[:2], update[2:]
    return (*(python if update[0] else previous[:2] or python), *(numpy if update[2] else previous[2:] or numpy))


def state_of(secret: bytes) -> State:
    """The state that a secret gives to both generators; the same secret gives the same one."""
    key: Any
    _, words, gauss = random.Random(secret).getstate()
    digest = np.frombuffer(hashlib.sha256(secret).digest(), np.uint32)
    _, key, position, has_gauss, spare = np.random.RandomState(digest).get_state()
    return array("I", words).tobytes(), gauss, key.tobytes(), int(position), int(has_gauss), float(spare)


def number_of(state: State) -> int:
    """A number that belongs to a state, for generators of other libraries."""
    return int.from_bytes(hashlib.sha256(state[2]).digest()[:7], "little")


def check(state: object) -> State:
    """What get_state or news returned. Raises ValueError for anything else."""
    if not (isinstance(state, tuple) and tuple(map(type, state))[2:] == (bytes, int, int, float)):
        raise ValueError("the state of the random generator is not valid")
    words, gauss, key, position, has_gauss, _ = state
    if type(words) is not bytes or type(gauss) not in (float, type(None)) or len(words) not in (0, 4 * (WORDS + 1)):
        raise ValueError("the state of Python's random generator is not valid")
    # NumPy itself believes any position, and would read beyond its words.
    if key and (len(key) != 4 * WORDS or not 0 <= position <= WORDS or has_gauss not in (0, 1)):
        raise ValueError("the state of NumPy's random generator is not valid")
    if words and _position(words) > WORDS:
        raise ValueError("the state of Python's random generator is not valid")
    return state


def set_state(state: object) -> None:
    """Set what get_state or news returned. Raises ValueError for anything else, before it changes anything."""
    words, gauss, key, position, has_gauss, spare = check(state)
    if words:
        random.setstate((3, tuple(array("I", words)), gauss))
    if key:
        np.random.set_state(("MT19937", np.frombuffer(key, np.uint32), position, has_gauss, spare))


def _position(words: bytes) -> int:
    return int.from_bytes(words[-4:], sys.byteorder)


# --- what each side knows of the other's


class Common:
    """The state that both sides know; each keeps one. This is the candidate's: it believes what it is told."""

    def __init__(self) -> None:
        self.known: State | tuple[()] = ()

    def tell(self, message: dict) -> None:
        """Add to a message what the other side does not know yet, and which seeds were set."""
        if (state := get_state()) != self.known:
            message["random_state"], self.known = news(state, self.known), state
            if SEEDS:
                message["seeds"] = dict(SEEDS)
                SEEDS.clear()

    def take(self, update: Any) -> None:
        """Go on from what the other side told. Raises ValueError and TypeError, as ``set_state`` does."""
        set_state(update)
        self.known = with_news(self.known, update)
        SEEDS.clear()


class Followed:
    """The state that both sides know, and where the other side's comes from. This is the examiner's."""

    def __init__(self) -> None:
        self.python, self.numpy = Stream(of_python), Stream(of_numpy)
        self.apart = False
        """Whether this side runs an earlier place of the notebook than the candidate: then nothing is told or taken."""
        self.known = get_state()
        self.agree(self.known)

    def agree(self, state: State) -> None:
        """Both sides have this state, or this part of one, from now on."""
        self.known = with_news(self.known, state)
        for stream, place in zip((self.python, self.numpy), places_of(state), strict=True):
            if place:
                stream.at(place)

    def tell(self, message: dict) -> None:
        """Add to a message what the other side does not know yet."""
        if not self.apart and (state := get_state()) != self.known:
            message["random_state"] = told = news(state, self.known)
            self.agree(told)

    def take(self, update: Any, seeds: Any = None) -> None:
        """Go on from what the candidate told, which names the last ``seeds`` that were set there, by library.

        Raises ValueError and TypeError for anything but a state. One that drawing does not lead to changes nothing.
        """
        if self.apart:
            return
        update = check(update)
        python, numpy = places_of(update)
        seeds = seeds if type(seeds) is dict else {}
        if python and not _follows(self.python, python, "random", seeds):
            update = (*NO_PYTHON, *update[2:])
        if numpy and not _follows(self.numpy, numpy, "numpy", seeds):
            update = (*update[:2], *NO_NUMPY)
        set_state(update)
        self.known = with_news(self.known, update)


def places_of(state: State) -> tuple[Place | None, Place | None]:
    """The places of both generators in their streams."""
    words, gauss, key, position, has_gauss, spare = state
    python = Place(words[:-4], _position(words), (gauss,)) if words else None
    return python, Place(key, position, (spare if has_gauss else None,)) if key else None


def _follows(stream: Stream, place: Place, library: str, seeds: dict) -> bool:
    seeded = of_seed(library, seeds[library]) if library in seeds else None
    return stream.follows(place, [seeded] if seeded else (), unknown_seed=library in seeds and seeded is None)


# --- the seeds that are set in the candidate


SEEDS: dict[str, Any] = {}
"""The last seed since a state was told or taken, by library; None where it was not plain data."""
LONGEST, MOST_SEEDS = 64, 8
"""Characters of a seed, and numbers in one. A long one can be made so that its state is nearly any that is wanted."""


def note_seeds() -> None:
    """Have ``random.seed`` and ``numpy.random.seed`` of this process note what they are called with."""
    random.seed = _noting(random.seed, "random")
    np.random.seed = np.random.mtrand.seed = _noting(np.random.seed, "numpy")


def _noting(seed: Any, library: str) -> Callable:
    @functools.wraps(seed)
    def noting(*args: Any, **kwargs: Any) -> None:
        seed(*args, **kwargs)
        values = [*args, *kwargs.values()]
        SEEDS[library] = _plain(values[0]) if len(values) == 1 else None

    return noting


def _plain(seed: Any) -> Any:
    if type(seed) in (str, bytes, float):
        return seed
    try:
        return operator.index(seed)
    except TypeError:
        pass
    try:
        return [operator.index(number) for number in seed[: MOST_SEEDS + 1]]
    except (TypeError, LookupError):
        return None


def of_seed(library: str, seed: Any) -> Place | None:
    """The place where a stranger's seed begins; None if it has none that can be told."""
    if library == "random":
        short = type(seed) is int and abs(seed) < 2**256
        if not (short or type(seed) is float or (type(seed) in (str, bytes) and len(seed) <= LONGEST)):
            return None
        words = array("I", random.Random(seed).getstate()[1]).tobytes()
        return Place(words[:-4], _position(words))
    numbers = seed if type(seed) is list else [seed]
    if not (0 < len(numbers) <= MOST_SEEDS and all(type(number) is int and 0 <= number < 2**32 for number in numbers)):
        return None
    key: Any
    _, key, position, *_ = np.random.RandomState(seed).get_state()
    return Place(key.tobytes(), int(position))
