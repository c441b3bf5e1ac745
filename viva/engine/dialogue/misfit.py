"""What a call gave that is an object where the solution's was plain data.

A test may have called only for what the call does, as ``stack.push(1)`` or ``draw(axes)``: that goes on. To look at
what came of it is refused, whatever is asked, so that no operator of a student's class decides a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


class Misfit:
    """Raises what ``refuse`` raises for everything that is asked of it; its own class is the one thing it tells."""

    __slots__ = ("__weakref__", "_hash", "_refuse")

    def __init__(self, refuse: Callable[[], NoReturn], hashed: Callable[[], int] | None = None) -> None:
        """``hashed`` gives its place in a set or a dict, until it is ``settled`` there."""
        object.__setattr__(self, "_refuse", refuse)
        object.__setattr__(self, "_hash", hashed)

    def __getattribute__(self, name: str) -> object:
        return Misfit if name == "__class__" else refused(self)

    def __hash__(self) -> int:
        hashed = object.__getattribute__(self, "_hash")
        return hashed() if hashed else refused(self)

    def __eq__(self, other: object) -> bool:
        """What is one thing in a set was told apart there."""
        return self is other if object.__getattribute__(self, "_hash") else refused(self)


def refused(value: Misfit, *_: object, **__: object) -> NoReturn:
    object.__getattribute__(value, "_refuse")()


def settle(value: Misfit) -> None:
    """From now on it is refused to place it elsewhere, or to look for it."""
    object.__setattr__(value, "_hash", None)


def look_at(*values: object) -> None:
    """Refuse what a test asks in a way that the values would not notice."""
    for value in values:
        if type(value) is Misfit:
            refused(value)


for _name in (
    "setattr delattr iter next call enter exit dir copy deepcopy reduce_ex getitem setitem delitem contains len repr "
    "str bool int float complex abs round reversed format index ne lt le gt ge neg pos invert array "
    "instancecheck subclasscheck "
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod "
    "radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift rdivmod"
).split():
    setattr(Misfit, f"__{_name}__", refused)
