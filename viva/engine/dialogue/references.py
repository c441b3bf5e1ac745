"""References: candidate and examiner name to each other the objects that cannot cross by value."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import types
import weakref
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.exceptions import Raised, StudentClass
from viva.engine.dialogue.expected import EACH, NOTHING, PLAIN, ExpectedTypes, Path, Step, library, walk
from viva.engine.dialogue.objects import ITERATOR, origin
from viva.engine.dialogue.proxies import (
    BUILT_IN_PLACES,
    PROXIES,
    CallableProxy,
    Home,
    IteratorProxy,
    Proxy,
    handed_number,
    is_sealed,
    number_of,
    refusing,
    stood_for,
)
from viva.engine.dialogue.proxies import about as about_proxy
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.engine.values.plain import ATOMS, codec_of
from viva.engine.values.sharing import SHARED, Shared
from viva.verdict import CandidateFault, CandidateLied, WireError

OFFERED = Step("operation", "offered")
"""How a library's part in the examiner comes by what that in the candidate has for it."""
DICTS = (dict, OrderedDict, Counter, defaultdict)
LIKED = dict.fromkeys((list, set, np.ndarray, float, *DICTS), 0) | {tuple: 1, frozenset: 1, str: 2}
"""Types of values that are known again when they are given back, and their least lengths: Python has one object for
all shorter ones."""
PLAIN_CONTAINERS = {("builtins", cls.__name__) for cls in (list, tuple, dict, set, frozenset)}
CONTAINERS = frozenset(PLAIN_CONTAINERS | {("numpy", "ndarray"), ("collections", "deque")})
"""The classes of which the candidate can make one with other contents (``objects.remade``)."""
MOST_LIKES, HELD = 100_000, 256 * 2**20
"""How many of them are known, and their bytes: the latest."""
DOCSTRING = 2000
"""Characters of a docstring that cross."""
TYPES = frozenset({"object", "type", "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set"})
"""Python's own types, which are the same on both sides."""


class References:
    """The examiner's ``functions`` that the candidate was handed, and the proxies for the candidate's objects."""

    def __init__(self, home: Home, expected: ExpectedTypes, raised: Raised) -> None:
        self.home, self.expected, self.raised = home, expected, raised
        self.functions: list[Callable] = []
        self.numbers: dict[int, int] = {}
        """The number of each function by its id(); the list keeps it alive. Handed over twice it has one number."""
        self.iterators: dict[int, Iterator] = {}
        """The test's iterators that the candidate was handed, by the numbers of their functions."""
        self.shared = Shared(self)
        self.likes: wire.Likes = {}
        self.held = 0
        """The bytes of the likes, roughly."""
        self.whole: set[int] = set()
        """The ids of those likes that are given back as the object that they stand for."""
        self.refuse: Callable[[CandidateFault], NoReturn]
        self.seals: weakref.WeakValueDictionary[int, Proxy] = weakref.WeakValueDictionary()
        self.proxies: weakref.WeakValueDictionary[tuple[int, Path], Proxy] = weakref.WeakValueDictionary()

    examining = True

    def offer(self, value: Any) -> tuple[int, dict]:
        return self._number(value), {}

    def reach(self, number: int, about: dict, path: Path | None = None) -> Proxy:
        """The proxy for what the candidate offered. Raises WireError."""
        if type(number) is not int or not _is_description(about):
            raise WireError("an object that is not valid was sent")
        return CallableProxy(self.home, number, about, path or Path("", (OFFERED,)))

    def _number(self, value: Any) -> int:
        if (number := self.numbers.get(id(value))) is None:
            number = self.numbers[id(value)] = len(self.functions)
            self.functions.append(value)
        return number

    def _like(self, value: Any, number: int) -> object:
        """A value that is of another class in the candidate. Given back it is that again."""
        if type(value) is not defaultdict:
            self.expected.reduced = True
        elif self.expected.recording:  # no other answer need make missing values as the solution does
            value = dict(value)
        least = LIKED.get(type(value))
        if least is not None and (least == 0 or len(value) >= least):
            self._keep(value, number)
        return value

    def _keep(self, value: object, known: int | wire.Reference) -> None:
        self._forget(id(value))
        self.likes[id(value)] = known, value, _size(value)
        self.held += self.likes[id(value)][2]
        while self.held > HELD or len(self.likes) > MOST_LIKES:
            self._forget(next(iter(self.likes)))

    def follow_copies(self) -> None:
        """Have Python's ``copy`` say what it made: a test's copy of such a value is of the same class, given back."""
        deep, shallow = copy.deepcopy, copy.copy

        @functools.wraps(deep)
        def deepcopy(value: Any, memo: dict | None = None) -> Any:
            memo = {} if memo is None else memo
            made = deep(value, memo)
            for value_id in [one for one in memo if one in self.likes]:
                self._keep_copy(value_id, memo[value_id])
            return made

        @functools.wraps(shallow)
        def shallow_copy(value: Any) -> Any:
            made = shallow(value)
            self._keep_copy(id(value), made)
            return made

        vars(copy).update(deepcopy=deepcopy, copy=shallow_copy)

    def _keep_copy(self, value_id: int, made: object) -> None:
        known, value, _ = self.likes.get(value_id, (None, None, 0))
        if type(known) is int and made is not value:
            self._keep(made, known)

    def _forget(self, value_id: int) -> None:
        *_, size = self.likes.pop(value_id, (0,))
        self.held -= size
        self.whole.discard(value_id)

    def _in_place_of(self, reference: wire.Reference, value: Any) -> object:
        """A value that stands for an object of the candidate's. Given back it is of the class of that again, or the
        object itself where that has no contents to send: what becomes of it then is not told."""
        of_objects = type(value) is np.ndarray and value.dtype.hasobject
        if type(value) in wire.LIKED_ATOMS or not (of_objects or CONTAINERS.isdisjoint(reference.about["mro"])):
            return self._like(value, -1 - reference.id)
        if type(value) not in ATOMS:
            self._keep(value, wire.Reference(reference.id, {"of": "candidate"}))
            self.whole.add(id(value))
        return value

    def refer(self, value: Any) -> wire.Reference | None:
        """The reference by which the candidate knows a proxy or an object of the examiner's."""
        if type(value) in PROXIES:
            return wire.Reference(handed_number(value), {"of": "candidate"})
        if (reference := self.shared.refer(value)) is not None:
            return reference
        if type(value) in (StudentClass, types.FunctionType) or isinstance(value, BaseException):
            number = vars(value).get("viva_number")
            if type(number) is int:
                return wire.Reference(number, {"of": "candidate"})
        full_name = origin(value) or (BUILT_IN_PLACES.get(value, "") if isinstance(value, type) else "")
        label = getattr(value, "__name__", "")
        if getattr(builtins, label, None) is value:
            full_name = f"builtins:{label}"
        module, _, name = full_name.partition(":")
        if module and module.partition(".")[0] != "viva" and name:
            return wire.Reference(0, {"of": "library", "module": module, "qualname": name})
        if callable(value):
            description = {
                "of": "examiner",
                "name": getattr(value, "__name__", "f"),
                "parameters": parameters_of(value),
                "doc": _doc_of(value),
            }
            return wire.Reference(self._number(value), description)
        if _is_iterator(type(value)):
            return wire.Reference(self._number_of_iterator(value), {"of": "examiner", "name": ITERATOR})
        return None

    def _number_of_iterator(self, iterator: Iterator) -> int:
        """The number of the function that gives the next value of a test's ``iterator``."""
        if id(iterator) not in self.numbers:
            number = self._number(iterator)
            self.iterators[number], self.functions[number] = iterator, functools.partial(_next_of, iterator)
        return self.numbers[id(iterator)]

    def resolve(self, reference: wire.Reference | wire.Like, path: Path, references: list) -> object:
        """The meaning here of a reference of the candidate's; those to its objects are added to ``references``.

        Raises WireError.
        """
        if isinstance(reference, wire.Like):
            return self._like(reference.value, reference.number)
        description, recording = reference.about, self.expected.recording
        if description.get("of") == "examiner" and 0 <= reference.id < len(self.functions):
            return self.iterators.get(reference.id, self.functions[reference.id])
        if description.get("of") == SHARED:
            value = self.shared.resolve(reference, path)
            if type(proxy := stood_for(value)) in PROXIES:
                references.append(wire.Reference(number_of(proxy), about_proxy(proxy)))
            elif codec_that_was_added(type(value)) is None:
                references.append(wire.Reference(-1 - reference.id, {"type": type(value).__name__}))
            return value
        if description.get("of") != "candidate" or not _is_description(description):
            raise WireError("an invalid reference")
        expected, source = self.expected.known.get(path), description["origin"]
        if expected and expected.imported and (loaded := library(expected.kind)) is not None:
            return loaded
        if expected and expected.kind == source and _is_value(local := library(source)):
            return local
        if "contents" in description:
            return self._in_place_of(reference, _filled(description["type"], description["contents"]))
        if "base" in description and not self.expected.takes_objects(path):
            return self._in_place_of(reference, description["base"])
        if expected and expected.kind in (PLAIN, NOTHING) and not recording:
            if description["iterator"]:
                iterator = IteratorProxy(self.home, reference.id, description, path)
                return self._in_place_of(reference, self._items(iterator))
            if "plain" in description:
                return self._in_place_of(reference, description["plain"])
        references.append(reference)
        if description["class"] and source.startswith("builtins:") and source.partition(":")[2] in TYPES:
            return library(source)
        if "lineage" in description:
            return self.raised.class_of(description["lineage"])
        if "exception" in description:
            self.expected.check(path, description["exception"])
            return self.raised.exception(description["exception"])
        if (proxy := self.proxies.get((reference.id, path))) is None:
            cls = IteratorProxy if description["iterator"] else CallableProxy if description["callable"] else Proxy
            proxy = self.proxies[reference.id, path] = cls(self.home, reference.id, description, path)
        return proxy

    def sealed(self, value: Any, odd: CandidateLied, path: Path, data: bytes | None = None) -> Any:
        """The value, with each object of the student's in it as one that the test can return, and not look at.

        Raises ``odd`` where that cannot be, and what else is wrong with the value.
        """
        if self.expected.recording:
            raise odd
        value = self._sealed(value, odd)
        if not all(is_sealed(part) or codec_of(part) is not None for part in walk(value)):
            raise odd
        if other := self.expected.odd(path, [], value, data):
            raise other
        return value

    def _sealed(self, value: Any, odd: CandidateLied) -> Any:
        if type(value) in PROXIES and (number := number_of(value)) >= 0:
            if (proxy := self.seals.get(number)) is None:
                proxy = self.seals[number] = refusing(odd, self.refuse, value)
            return proxy
        if type(value) is list:
            value[:] = [self._sealed(part, odd) for part in value]
        elif type(value) in DICTS:
            dict.update(value, {key: self._sealed(part, odd) for key, part in value.items()})
        elif type(value) is tuple and value:
            parts = tuple(self._sealed(part, odd) for part in value)
            if id(value) in self.likes:
                self._keep(parts, self.likes[id(value)][0])
            return parts
        return value

    def _items(self, iterator: Proxy) -> Iterator[object]:
        """The items of an iterator in place of the list that the solution gave. They have to be plain."""
        path = object.__getattribute__(iterator, "_path").then(EACH)
        while True:
            try:
                item = self.home.ask("next", iterator, path=path)
            except StopIteration:
                return
            yield item


def _is_iterator(cls: type) -> bool:
    """Whether it is a class of Python's own whose objects are gone through, and nothing else, as ``zip`` is."""
    return cls.__module__ in ("builtins", "itertools") and hasattr(cls, "__next__")


def _next_of(iterator: Iterator) -> tuple:
    """The next value of an iterator, in a tuple; an empty one at its end."""
    for value in iterator:
        return (value,)
    return ()


def _size(value: object) -> int:
    """The bytes of a plain value, roughly."""
    size = 0
    for part in walk(value):
        codec = codec_that_was_added(type(part))
        size += part.nbytes if type(part) is np.ndarray else len(part) if type(part) in (str, bytes) else 64
        size += 8 * codec.size(part) if codec and codec.size else 0
    return size


def parameters_of(function: object) -> list[tuple[int, bool]] | None:
    """The kind of each parameter of a Python function, and whether it has a default. Its name may be hidden."""
    if type(function) is not types.FunctionType:
        return None
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return [(int(parameter.kind), parameter.default is not parameter.empty) for parameter in parameters]


def _is_value(local: object) -> bool:
    """Whether a library's object is told by its name as a number is by its digits: one of NumPy's types of numbers.

    Anything else that a student's name means is asked: his function may say that it is the solution's, and a library's
    function may be another one in his process."""
    return isinstance(local, type) and issubclass(local, np.generic)


def _doc_of(function: object) -> str | None:
    """The docstring of a Python function, which ``functools.wraps`` keeps."""
    text = function.__doc__ if type(function) is types.FunctionType else None
    return text[:DOCSTRING] if type(text) is str else None


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
        for index, item in enumerate(items):
            flat[index] = item
        return flat.reshape(shape)
    except (LookupError, TypeError, ValueError):
        raise CandidateLied("invalid contents") from None


def _is_description(description: dict) -> bool:
    """Whether a stranger's words about an object can be read."""
    expected = {"type": str, "mro": list, "class": bool, "callable": bool, "iterator": bool, "name": str, "origin": str}
    return (
        all(type(description.get(key)) is cls for key, cls in expected.items())
        and all(
            isinstance(base, tuple) and len(base) == 2 and all(type(part) is str for part in base)
            for base in description["mro"]
        )
        and len(description["mro"]) > 0
    )
