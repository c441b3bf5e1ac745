"""How candidate and examiner name to each other what lives in one of them, and cannot cross by value."""

from __future__ import annotations

import builtins
import inspect
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.exceptions import Raised, StudentClass
from viva.engine.dialogue.expected import EACH, NOTHING, PLAIN, ExpectedTypes, Path, Step, library
from viva.engine.dialogue.objects import origin
from viva.engine.dialogue.proxies import (
    BUILT_IN_PLACES,
    PROXIES,
    CallableProxy,
    Home,
    IteratorProxy,
    Proxy,
    known_number,
    number_of,
    stood_for,
)
from viva.engine.dialogue.proxies import about as about_proxy
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.engine.values.sharing import SHARED, Shared
from viva.verdict import CandidateLied, WireError

OFFERED = Step("operation", "offered")
"""How a library's part in the examiner comes by what that in the candidate has for it."""
TYPES = frozenset({"object", "type", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set"})
"""Python's own types, which are the same on both sides."""


class References:
    """The examiner's ``functions`` that the candidate was handed, and the proxies for the candidate's objects."""

    def __init__(self, home: Home, expected: ExpectedTypes, raised: Raised) -> None:
        self.home, self.expected, self.raised = home, expected, raised
        self.functions: list[Callable] = []
        self.numbers: dict[int, int] = {}
        """By id(), the place of a function among them, which keep it alive: handed over twice it is one thing."""
        self.shared = Shared(self)
        self.proxies: weakref.WeakValueDictionary[tuple[int, Path], Proxy] = weakref.WeakValueDictionary()

    examining = True

    def offer(self, value: Any) -> tuple[int, dict]:
        return self._number(value), {}

    def reach(self, number: int, about: dict, path: Path | None = None) -> Proxy:
        """The proxy for what the candidate offered. Raises WireError."""
        if type(number) is not int or not _is_description(about):
            raise WireError("an invalid offer")
        return CallableProxy(self.home, number, about, path or Path("", (OFFERED,)))

    def _number(self, value: Any) -> int:
        if (number := self.numbers.get(id(value))) is None:
            number = self.numbers[id(value)] = len(self.functions)
            self.functions.append(value)
        return number

    def refer(self, value: Any) -> wire.Reference | None:
        """How something of ours, or a proxy, is named to the candidate."""
        if type(value) in PROXIES:
            return wire.Reference(known_number(value), {"of": "candidate"})
        if (reference := self.shared.refer(value)) is not None:
            return reference
        if type(value) in (StudentClass, types.FunctionType) or isinstance(value, BaseException):
            number = vars(value).get("viva_number")
            if type(number) is int:
                return wire.Reference(number, {"of": "candidate"})
        place = origin(value) or (BUILT_IN_PLACES.get(value, "") if isinstance(value, type) else "")
        label = getattr(value, "__name__", "")
        if getattr(builtins, label, None) is value:
            place = f"builtins:{label}"
        module, _, name = place.partition(":")
        if module and module.partition(".")[0] != "viva" and name:
            return wire.Reference(0, {"of": "library", "module": module, "qualname": name})
        if callable(value):
            about = {"of": "examiner", "name": getattr(value, "__name__", "f"), "parameters": parameters_of(value)}
            return wire.Reference(self._number(value), about)
        return None

    def resolve(self, reference: wire.Reference, path: Path, found: list) -> object:
        """What a reference of the candidate's means here; ``found`` takes those to its objects. Raises WireError."""
        about, recording = reference.about, self.expected.recording
        if about.get("of") == "examiner" and 0 <= reference.id < len(self.functions):
            return self.functions[reference.id]
        if about.get("of") == SHARED:
            value = self.shared.resolve(reference, path)
            if type(proxy := stood_for(value)) in PROXIES:
                found.append(wire.Reference(number_of(proxy), about_proxy(proxy)))
            elif codec_that_was_added(type(value)) is None:
                found.append(wire.Reference(-1 - reference.id, {"type": type(value).__name__}))
            return value
        if about.get("of") != "candidate" or not _is_description(about):
            raise WireError("an invalid reference")
        expected, place = self.expected.known.get(path), about["origin"]
        if expected and (expected.own or (expected.kind and expected.kind == place)):
            mine = library(expected.kind)
            # What a student's class or function may give would not show if the solution's were taken for ours.
            is_class = isinstance(mine, type) and not issubclass(mine, np.generic)
            if expected.own or not (is_class or (recording and callable(mine))):
                return mine
        if "contents" in about:
            return _filled(about["type"], about["contents"])
        if "base" in about and not self.expected.takes_objects(path):
            return about["base"]
        if expected and expected.kind in (PLAIN, NOTHING) and not recording:
            if about["iterator"]:
                return self._items(IteratorProxy(self.home, reference.id, about, path))
            if "plain" in about:
                return about["plain"]
        found.append(reference)
        if about["class"] and place.startswith("builtins:") and place.partition(":")[2] in TYPES:
            return library(place)
        if "lineage" in about:
            return self.raised.class_of(about["lineage"])
        if "exception" in about:
            self.expected.check(path, about["exception"])
            return self.raised.exception(about["exception"])
        if (known := self.proxies.get((reference.id, path))) is None:
            cls = IteratorProxy if about["iterator"] else CallableProxy if about["callable"] else Proxy
            known = self.proxies[reference.id, path] = cls(self.home, reference.id, about, path)
        return known

    def _items(self, iterator: Proxy) -> Iterator[object]:
        """Where the solution gave a list an iterator will do, but its items have to be plain."""
        path = object.__getattribute__(iterator, "_path").then(EACH)
        while True:
            try:
                item = self.home.ask("next", iterator, path=path)
            except StopIteration:
                return
            yield item


def parameters_of(function: object) -> list[tuple[int, bool]] | None:
    """Of each parameter of a function of Python's: its kind, and whether it has a default. Its name may be hidden."""
    if type(function) is not types.FunctionType:
        return None
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return [(int(one.kind), one.default is not one.empty) for one in parameters]


def _filled(name: str, contents: Any) -> object:
    """A view of a dict, of the class called ``name``, or an array of objects with these contents."""
    try:
        match name:
            case "dict_keys" | "KeysView":
                return dict.fromkeys(contents).keys()
            case "dict_values" | "ValuesView":
                return dict(enumerate(contents)).values()
            case "dict_items" | "ItemsView":
                return dict(contents).items()
        shape, items = contents
        flat = np.empty(len(items), object)
        for place, item in enumerate(items):
            flat[place] = item
        return flat.reshape(shape)
    except (LookupError, TypeError, ValueError):
        raise CandidateLied("invalid contents") from None


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
