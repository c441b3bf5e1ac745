"""Of what kind each answer of the solution was, by the path to it; recorded while it is examined, then enforced."""

from __future__ import annotations

import itertools
import re
import sys
from collections import deque

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.exceptions import library
from viva.engine.dialogue.parts import CONTAINERS, holds_rows, is_row, is_stand_in, walk
from viva.verdict import CandidateOdd

PLAIN, ANY = "plain", "any"
NOTHING = "nothing"
"""None or something empty: of what kind it is otherwise does not show, as of a leaf's ``left`` or ``children``."""
BY_VALUE = "by value"
"""An object that crossed by value: a namedtuple, a deque, or what a library's class gives that the answers name.
A student's may be one of another class; in what crosses by value there is none."""
OWN = "own "
"""Before the place of what the solution imports: the examiner takes its own, whatever the student's name means."""
ARRAYS = " pandas array"
"""After the path of what came with an array of pandas' own in the solution's answer."""
COMPUTED = " computed"
"""After the path of a call whose result held an array: tests may subtract expected numbers from it in place."""
PANDAS_ARRAYS = (b"masked", b"strings", b"zoned", b"categories", b"sparse", b"periods", b"intervals")
"""What stands in every message that holds one; see ``viva/engine/values/frames.py``."""
SWALLOWS = " leave "
"""After the path of a context manager of the solution's, before the name of an exception that it did not let out."""
LETS_OUT = " lets out "
"""The same, before the check and the exception that it did let out there, which the test may have wanted."""
CALLED_BACK = " called back"
"""The path under which it stands that the solution caught what a test asserted while it was called back."""
HANDED = " handed"
"""After the path of a call at which a function of the test's was called: of what kind that is which it was handed."""
CREDIT = " credit "
"""Before the name of a grade cell: what the last value of its only check says, as ``viva.engine.credit`` has it."""
STOPS = " stops"
"""After the path of a call at which the solution raised StopIteration."""
ITERATED = " iter"
"""After the path of what was iterated over: an iterator is an object, whatever it gives."""
WIDER = {*itertools.combinations((NOTHING, PLAIN, BY_VALUE, ""), 2)}
"""What was recorded of a path, and what else it may turn out to be."""
HOLDING = (list, tuple, dict, set, frozenset, deque)
OF_THE_SAME = re.compile(
    r"""
    (.+)
    (?: [ ](?: add | sub | mul | truediv | floordiv | mod | pow | matmul | neg | pos | abs | and_ | or_ | xor )
    | \.(?: copy | _replace )\(\) )                                                                       # a method
    """,
    re.VERBOSE,
)
"""The path of what may be of the class that it came from; where that crossed by value, the solution was not asked."""
LONGEST = 400
"""So many letters has a path at most."""
PYTHONS_OWN = frozenset({None, object, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset})
_VALUES, _ITEMS = type({}.values()), type({}.items())


class Kinds:
    """``known`` maps paths to PLAIN, to ``module:qualname`` of something in a library (after OWN when it was imported),
    to ANY, or to an empty string for any other object. With ``recording`` it is filled in instead of enforced."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.recording = False

    def expected(self, path: str) -> str:
        """The kind of what a path leads to: plain, unless it was recorded otherwise or stands behind a widened one.

        Where the solution had nothing, it is what an attribute of that name was elsewhere: no two trees of the same
        keys need be of one shape.
        """
        if self.known.get(path, NOTHING) != NOTHING:
            return self.known[path]
        if path.endswith(ITERATED):
            return ""
        if "." in path and (kind := self._elsewhere(path)) is not None:
            return kind
        if path.endswith("()") and self._named_class(self.known.get(path.removesuffix("()"), "")):
            return BY_VALUE
        if (again := OF_THE_SAME.fullmatch(path)) and self.expected(again[1]) == BY_VALUE:
            return BY_VALUE
        widened = (begin for begin, kind in self.known.items() if kind == ANY)
        return ANY if any(path.startswith(begin) and path[len(begin)] in ".([ " for begin in widened) else PLAIN

    def _elsewhere(self, path: str) -> str | None:
        """The kind of objects that an attribute of the same name gave, by the same steps; None where it gave none."""
        root, step = root_of(path), path[path.rindex(".") :]
        found = {kind for known, kind in self.known.items() if known.endswith(step) and root_of(known) == root}
        return next((kind for kind in ("", BY_VALUE) if kind in found), None)

    def _named_class(self, place: str) -> type | None:
        """The class of a library's that an answer of the solution's is."""
        found = library(place) if ":" in place and not place.startswith(OWN) else None
        return found if isinstance(found, type) else None

    def _named_classes(self) -> set[type]:
        """Those of libraries that the answers name."""
        return set(map(self._named_class, self.known.values())) - PYTHONS_OWN

    def _crosses_by_value(self, value: object) -> bool:
        """Whether something is an object of a class that the answers name, or a deque, or namedtuples are in it."""
        if type(value) is deque or holds_rows(value):
            return True
        return type(value) in self._named_classes()

    def allows(self, trait: str, path: str = "") -> bool:
        """Whether an answer may have a trait: where the solution's had it, or anything goes. Records that it has."""
        if self.recording:
            self.known[path + trait] = PLAIN
        return path + trait in self.known or self.expected(path) == ANY

    def takes_objects(self, path: str) -> bool:
        """Whether something of a student's class that derives from a plain type is taken for the object that it is:
        where the solution gave an object, or anything goes. Elsewhere it is the plain value."""
        return self.recording or self.expected(path) in ("", BY_VALUE, ANY)

    def check(self, path: str, found: list[wire.Reference], value: object = None) -> None:
        """Raises what ``odd`` gives."""
        if odd := self.odd(path, found, value):
            raise odd

    def odd(
        self, path: str, found: list[wire.Reference], value: object = None, of_class: bool = False
    ) -> CandidateOdd | None:
        """What is wrong when objects were ``found`` in an answer where the solution's was plain.

        What can be got out of a list of objects, by an index or in a loop, may be one, whatever the student's is.
        What a class gave (``of_class``) and a namedtuple are objects, though the solution's crossed by value.
        """
        if self.recording:
            kind = "" if found else BY_VALUE if of_class or self._crosses_by_value(value) else PLAIN
            if kind == PLAIN and issubclass(type(value), (type(None), *HOLDING)) and not value:
                kind = NOTHING
            if isinstance(value, CONTAINERS) and (found or (holds_rows(value) and not is_row(value))):
                self.known |= {path + "[]": kind, path + "[*]": kind}
            if path not in self.known or (self.known[path], kind) in WIDER:
                self.known[path] = kind
        elif found and self._refuses(path, value):
            return refusal(path, found[0].about)
        return None

    def odd_handed(self, path: str, found: list[wire.Reference], value: object) -> CandidateOdd | None:
        """The same for what a function of the test's was handed; objects, too, where the call itself gave one."""
        return (odd := self.odd(path + HANDED, found, value)) and self.odd(path, found) and odd

    def compares(self, path: str) -> bool:
        """Whether an object may decide itself what it equals of plain data: not where the solution's crossed by value,
        unless a class of the answers gave it, or what it is the sum of."""
        origin = path
        while again := OF_THE_SAME.fullmatch(origin):
            origin = again[1]
        made = origin.endswith("()") and self._named_class(self.known.get(origin.removesuffix("()"), ""))
        return self.recording or bool(made) or self.expected(path) != BY_VALUE

    def combines(self, path: str) -> bool:
        """The same for what comes of it and plain data, as of a sum: also where the answers name a class for it."""
        return self.compares(path) or bool(self._named_classes())

    def _refuses(self, path: str, value: object) -> bool:
        """Whether a value in which there are objects has another kind than the solution's."""
        kind = self.expected(path)
        if kind != BY_VALUE or not issubclass(type(value), HOLDING):
            return kind == PLAIN
        rows = [part for part in walk(value) if is_row(part)]
        return self.known.get(path + "[]") != BY_VALUE or any(is_stand_in(item) for row in rows for item in row)

    def as_series(self, data: bytes, value: object, path: str) -> object:
        """A value, or the series of it where it is an array of pandas' own and the solution's was none.

        A student may give either, and a series that was compared does not pass for true.
        """
        if self.recording or path + ARRAYS in self.known or not any(mark in data for mark in PANDAS_ARRAYS):
            return value
        from pandas import Series
        from pandas.api.extensions import ExtensionArray

        return Series(value) if issubclass(type(value), ExtensionArray) else value

    def check_arrays(self, data: bytes, value: object, path: str) -> None:
        """Refuse arrays of pandas' own: compared, they come to an array, which a test takes for true."""
        if any(mark in data for mark in PANDAS_ARRAYS):
            self.check_told(value, path)

    def check_told(self, value: object, path: str) -> None:
        """The same for what was told beside an answer, as of which plain value an object is."""
        name = _pandas_array(value) if "pandas" in sys.modules else ""
        if name and not self.allows(ARRAYS, path):
            raise CandidateOdd(readable(path), f"a pandas array, {name}")


def _pandas_array(value: object) -> str:
    """The name of the class of an array of pandas' own in a value, outside of frames, series and indexes."""
    from pandas.api.extensions import ExtensionArray

    cls = type(value)
    if issubclass(cls, ExtensionArray):
        return cls.__name__
    if issubclass(cls, dict):
        value = value.values()
    elif issubclass(cls, np.ndarray | np.void) and value.dtype.hasobject:
        value = [value.tolist()]
    elif cls is slice:
        value = value.start, value.stop, value.step
    elif not issubclass(cls, list | tuple | deque | _VALUES | _ITEMS):
        return ""
    return next(filter(None, map(_pandas_array, value)), "")


def refusal(path: str, about: dict) -> CandidateOdd:
    """That an object, as it is described, was met where the solution's was plain."""
    name = about["type"][:60] if about["type"].isidentifier() else "without a proper name"
    what = "a function" if name in ("function", "builtin_function_or_method") else f"an object of class {name}"
    return CandidateOdd(readable(path), what)


def root_of(path: str) -> str:
    """The name at the begin of a path."""
    return re.match(r"\w*", path)[0]


def shortened(path: str) -> str:
    """A path without its middle if it is long, as that to the last of many nodes, each the ``next`` of another."""
    return path if len(path) <= LONGEST else path[: LONGEST // 2] + path[-LONGEST // 2 :]


def readable(path: str) -> str:
    """A path as students would write it."""
    return path.replace("()", "(...)").replace("[]", "[...]")
