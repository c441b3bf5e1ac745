"""What comes of an object and plain data that no operator of a student's may decide.

Where the solution's crossed by value a student may give an object. Compared with plain data it is its own plain value,
and so it is in ``fit(x) - expected``: else its operators would be handed the expected numbers, and say what is left.
"""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING

from viva.engine.dialogue.kinds import refusal, shortened
from viva.engine.dialogue.parts import CHANGEABLE
from viva.engine.dialogue.standin import STAND_INS, get_path

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker

COMPARING = frozenset("eq ne lt le gt ge".split())
COMBINING = frozenset("add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod".split())
IN_PLACE = frozenset("isub itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift".split())
"""Without those that a deque has of its own."""


def decided(asker: Asker, operation: str, args: tuple) -> object:
    """What an operation comes to; None where the candidate is to be asked, NotImplemented where plain data knows.

    Raises CandidateOdd for a comparison of what has no plain value.
    """
    if operation not in COMPARING | COMBINING | IN_PLACE or len(args) != 2:
        return None
    own, *more = (value for value in args if type(value) in STAND_INS)
    kinds, path = asker.kinds, shortened(get_path(own))
    if more or (kinds.compares(path) if operation in COMPARING else kinds.combines(path)):
        return None
    about = object.__getattribute__(own, "_about")
    if operation in IN_PLACE or ("base" not in about and operation in COMBINING):
        return NotImplemented
    if "base" not in about:
        raise refusal(path, about)
    if isinstance(about["base"], CHANGEABLE):
        asker.operate("itself", own, path=path)  # as it is now
    base = object.__getattribute__(own, "_about")["base"]
    kinds.check_told(base, path)
    work = getattr(operator, operation, None) or getattr(builtins, operation)
    return work(*(base if value is own else value for value in args))
