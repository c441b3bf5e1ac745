"""The global random state of ``random`` and ``numpy.random``, as plain values that may come from a stranger.

Both sides of the dialogue tell what is new of it: a part of no words, Python's or NumPy's, says nothing. To read and
to set both parts takes longer than all else about a question.
"""

from __future__ import annotations

import hashlib
import math
import random
from array import array
from typing import Any

import numpy as np

WORDS = 624
"""Words in the state of a Mersenne Twister."""
SPARE = 12.01
"""No spare normal number is further from zero: sqrt(2 log 2**104), by NumPy's polar method from numbers of 53 bits."""

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


class Common:
    """The state that both sides know; each keeps one."""

    def __init__(self) -> None:
        self.known: State | tuple[()] = ()

    def tell(self, message: dict) -> None:
        """Add to a message what the other side does not know yet."""
        if (state := get_state()) != self.known:
            message["random_state"], self.known = news(state, self.known), state

    def take(self, update: Any) -> None:
        """Go on from what the other side told. Raises ValueError and TypeError, as ``set_state`` does."""
        set_state(update)
        self.known = with_news(self.known, update)


def set_state(state: object) -> None:
    """Set what get_state or news returned. Raises ValueError for anything else, before it changes anything."""
    if not (isinstance(state, tuple) and tuple(map(type, state))[2:] == (bytes, int, int, float)):
        raise ValueError("the state of the random generator is not valid")
    words, gauss, key, position, has_gauss, spare = state
    if type(words) is not bytes or type(gauss) not in (float, type(None)) or len(words) not in (0, 4 * (WORDS + 1)):
        raise ValueError("not a state of random")
    # NumPy itself believes any position, and would read beyond its words.
    if key and (len(key) != 4 * WORDS or not 0 <= position <= WORDS or has_gauss not in (0, 1)):
        raise ValueError("not a state of numpy.random")
    # A spare number that never came of drawing, such as NaN, would be the next normal number of a test.
    if not all(math.isfinite(number) and abs(number) < SPARE for number in (gauss or 0.0, spare)):
        raise ValueError("the state of the random generator is not valid (an unused number)")
    # From nothing but zeros a generator draws zeros for ever, and from a few words what somebody chose.
    # Of the 624 words hardly ever are two the same.
    if any(part and len(set(array("I", part))) < WORDS // 2 for part in (words[:-4], key)):
        raise ValueError("the state of the random generator is not valid (no randomness)")
    if words:
        random.setstate((3, tuple(array("I", words)), gauss))
    if key:
        np.random.set_state(("MT19937", np.frombuffer(key, np.uint32), position, has_gauss, spare))
