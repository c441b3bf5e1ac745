"""How candidate and examiner name to each other what lives in one of them, and cannot cross by value."""

from __future__ import annotations

import builtins
import copy
import re
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.callback import parameters_of
from viva.engine.dialogue.exceptions import StudentClass, library
from viva.engine.dialogue.kinds import NOTHING, OWN, PLAIN
from viva.engine.dialogue.operations import origin
from viva.engine.dialogue.standin import (
    BUILT_IN_PLACES,
    STAND_INS,
    CallableIteratorStandIn,
    CallableStandIn,
    IteratorStandIn,
    StandIn,
    get_path,
)
from viva.verdict import CandidateLied, WireError

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker

TYPES = frozenset({"object", "type", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set"})
"""Python's own types, which are the same on both sides."""
LONGEST_PATTERN = 5000
"""Characters of a pattern that is compiled."""
KINDS_OF_STAND_INS = {
    (False, False): StandIn,
    (True, False): CallableStandIn,
    (False, True): IteratorStandIn,
    (True, True): CallableIteratorStandIn,
}
"""By what an object is: whether it can be called, and whether it is an iterator."""


class References:
    """The examiner's ``functions`` that the candidate was handed, and the stand-ins for the candidate's objects."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.functions: list[object] = []
        self.numbers: dict[int, int] = {}
        """By id(), the place of a function among them, which keep it alive: handed over twice it is one thing."""
        self.ones: dict[int, StandIn] = {}
        """By number, the stand-in that was compared by identity; kept, since another one could get its place."""
        self.factories: dict[tuple[int, str], Callable] = {}
        """By number and path, what asks the candidate for a missing value of a defaultdict."""
        self.made: dict[int, int] = {}
        """By id() of that, the number."""
        self.resolved = 0
        """So many references were read."""
        self.stand_ins: weakref.WeakValueDictionary[tuple[int, str], StandIn] = weakref.WeakValueDictionary()

    def refer(self, value: object) -> wire.Reference | None:
        """How something of ours, or a stand-in, is named to the candidate."""
        if type(value) in STAND_INS:
            return wire.Reference(object.__getattribute__(value, "_number"), {"of": "candidate"})
        if type(value) in (StudentClass, types.FunctionType) or isinstance(value, BaseException):
            number = vars(value).get("viva_number")
            if type(number) is int:
                return wire.Reference(number, {"of": "candidate"})
        if (number := self.made.get(id(value))) is not None:
            return wire.Reference(number, {"of": "candidate"})
        place = origin(value) or (BUILT_IN_PLACES.get(value, "") if isinstance(value, type) else "")
        if getattr(builtins, getattr(value, "__name__", ""), None) is value:
            place = f"builtins:{value.__name__}"
        module, _, name = place.partition(":")
        if module and module.partition(".")[0] != "viva" and name:
            return wire.Reference(0, {"of": "library", "module": module, "qualname": name})
        if callable(value):
            if (number := self.numbers.get(id(value))) is None:
                number = self.numbers[id(value)] = len(self.functions)
                self.functions.append(value)
            about = {"of": "examiner", "name": getattr(value, "__name__", "f")}
            about["parameters"] = parameters_of(value, hidden=bool(self.asker.hidden))
            return wire.Reference(number, about)
        return None

    def readers(self, path: str, found: list) -> tuple:
        """What ``wire.decode`` needs for an answer: resolve, no other names for namedtuples, and factory."""
        return (
            lambda reference: self.resolve(reference, path, found),
            None,
            lambda reference: self.factory(reference, path),
        )

    def factory(self, reference: wire.Reference, path: str) -> Callable:
        """A function that asks the candidate for a missing value of its defaultdict. Raises WireError."""
        about = reference.about
        self.resolved += 1
        if about.get("of") == "examiner" and 0 <= reference.id < len(self.functions):
            return self.functions[reference.id]
        if about.get("of") != "candidate" or not _is_description(about):
            raise WireError("a reference to nothing")
        if (known := self.factories.get((reference.id, path))) is None:
            stand_in = CallableStandIn(self.asker, reference.id, about, path)
            known = lambda: self.asker.operate("call", stand_in, path=path + "[]")  # noqa: E731  # deepcopy keeps it
            self.factories[reference.id, path], self.made[id(known)] = known, reference.id
        return known

    def resolve(self, reference: wire.Reference, path: str, found: list) -> object:
        """What a reference of the candidate's means here; ``found`` takes those to its objects. Raises WireError."""
        about = reference.about
        self.resolved += 1
        if about.get("of") == "examiner" and 0 <= reference.id < len(self.functions):
            return self.functions[reference.id]
        if about.get("of") != "candidate" or not _is_description(about):
            raise WireError("a reference to nothing")
        expected, place = self.asker.kinds.known.get(path), about["origin"]
        if expected and (expected == place or expected.startswith(OWN)):
            mine = library(expected.removeprefix(OWN))
            asked = expected == place and callable(mine) and not isinstance(mine, type)
            if not (asked and self.asker.kinds.recording):  # else what a student's function may give would not show
                return mine
        if "contents" in about:
            return _filled(about["type"], about["contents"])
        if "base" in about and not self.asker.kinds.takes_objects(path):
            if about.get("missing") is True and type(about["base"]) is dict:
                about["base"] = _Lookup(about["base"])
                about["base"].asked = StandIn(self.asker, reference.id, about, path)
            return about["base"]
        if about["iterator"] and expected in (PLAIN, NOTHING) and not self.asker.kinds.recording:
            return self._items(StandIn(self.asker, reference.id, about, path + "[*]"))
        if expected in (PLAIN, NOTHING) and not self.asker.kinds.recording:
            if type(about.get("unmasked")) is np.ndarray:
                return about["unmasked"]
            if type(about.get("coefficients")) is np.ndarray:
                return np.poly1d(about["coefficients"])
            if type(about.get("path")) is str:
                return Path(about["path"])
            if type(about.get("pattern")) is tuple:
                return _pattern(*about["pattern"])
        found.append(reference)
        if about["class"] and place.startswith("builtins:") and place.partition(":")[2] in TYPES:
            return library(place)
        if "lineage" in about:
            return self.asker.raised.class_of(about["lineage"])
        if "exception" in about:
            self.asker.kinds.check_told(about["exception"], path)
            return self.asker.raised.exception(about["exception"])
        if (known := self.stand_ins.get((reference.id, path))) is None:
            cls = KINDS_OF_STAND_INS[about["callable"], about["iterator"]]
            known = self.stand_ins[reference.id, path] = cls(self.asker, reference.id, about, path)
        if "base" in about:
            object.__getattribute__(known, "_about")["base"] = about["base"]  # as it is now
        return known

    def _items(self, iterator: StandIn) -> Iterator[object]:
        """Where the solution gave a list an iterator will do, but its items have to be plain."""
        path = get_path(iterator)
        while True:
            try:
                item = self.asker.operate("next", iterator, path=path)
            except StopIteration:
                return
            yield item


class _Lookup(dict):
    """A student's dict with ``__missing__``."""

    def __missing__(self, key: object) -> object:
        return self.asked[key]

    def __deepcopy__(self, memo: dict) -> _Lookup:
        known = _Lookup(copy.deepcopy(dict(self), memo))
        known.asked = self.asked
        return known


def _pattern(text: str | bytes, flags: int) -> re.Pattern:
    """What a student compiled; nothing that takes long, or that prints, as DEBUG does."""
    if len(text) > LONGEST_PATTERN:
        raise WireError(f"a pattern of {len(text)} characters")
    return re.compile(text, flags & ~int(re.DEBUG))


def _filled(name: str, contents: object) -> object:
    """A view of a dict, of the class called ``name``, or an array of objects or of records with these contents."""
    try:
        match name:
            case "dict_keys" | "KeysView":
                return dict.fromkeys(contents).keys()
            case "dict_values" | "ValuesView":
                return dict(enumerate(contents)).values()
            case "dict_items" | "ItemsView":
                return dict(contents).items()
        if len(contents) == 3:
            return _records(name, *contents)
        shape, items = contents
        flat = np.empty(len(items), object)
        for place, item in enumerate(items):
            flat[place] = item
        return flat.reshape(shape)
    except (LookupError, TypeError, ValueError):
        raise CandidateLied("contents that are none") from None


def _records(cls: str, names: list, shape: tuple, columns: list) -> object:
    """An array of records, or one of them, with a column for each name."""
    arrays = [column if isinstance(column, np.ndarray) else _filled("", (shape, column)) for column in columns]
    if not names or any(array.shape[: len(shape)] != shape for array in arrays):
        raise ValueError("columns of other shapes")
    fields = zip(names, arrays, strict=True)
    found = np.empty(shape, [(name, array.dtype, array.shape[len(shape) :]) for name, array in fields])
    for name, array in zip(names, arrays, strict=True):
        found[name] = array
    found = found.view(np.recarray) if cls in ("recarray", "record") else found
    return found if cls in ("ndarray", "recarray") else found[()]


def _is_description(about: dict) -> bool:
    """Whether a stranger's words about an object can be read."""
    expected = {"type": str, "mro": list, "class": bool, "callable": bool, "iterator": bool, "name": str, "origin": str}
    return (
        all(type(about.get(key)) is cls for key, cls in expected.items())
        and all(
            isinstance(base, tuple) and len(base) == 2 and all(type(part) is str for part in base)
            for base in about["mro"]
        )
        and len(about["mro"]) > 0
    )
