"""A codec: how the values of a type are taken apart for the wire and built again; the table of all of them.

``plain`` fills the table, and ``frames`` adds to it once pandas is loaded.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType

ZONES = (NoneType, dt.timezone)


@dataclass(frozen=True)
class Reference:
    """Stands in a message for what cannot cross by value; ``about`` is plain, with str keys."""

    id: int
    about: dict


class Again:
    """Stands in a message for something changeable that it holds already, as the second row of ``[[0]] * 2``."""


@dataclass(frozen=True, eq=False)
class Codec:
    """How values of some types cross: ``split`` gives the parts of one (None: it cannot), ``build`` the value again.

    ``parts`` are the types that these may have when they arrive; None is any.
    """

    types: tuple
    split: Callable
    build: Callable
    parts: frozenset | None = None


CODEC_OF: dict[type, Codec] = {}
"""By type; a type that is not there may be plain all the same, if it derives from one that is (``plain.codec_of``)."""
