"""Stand-ins: the examiner's objects for things that live in the candidate.

Every operation on a stand-in is a question to the candidate; the answer is plain data, or another
stand-in. Where the instructor's solution answered with plain data, a stand-in is refused, so that
no operator of a student's class ever decides a comparison that was written for numbers: the kinds
of all answers are recorded while the solution is examined, by path. A path says how a value was
come by: ``model``, ``model.fit()``, ``model.fit().coef_``. Where an author has widened a path to ANY,
a stand-in is accepted for it, and for whatever the tests get out of it.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING

from viva.engine.dialogue.exceptions import library
from viva.engine.dialogue.kinds import ITERATED, LETS_OUT, PLAIN, SWALLOWS
from viva.engine.dialogue.misfit import look_at

POINTERS = ("__array_interface__", "__array_struct__")
"""Attributes in which NumPy finds an address in memory. The candidate's would be read in the examiner's."""

if TYPE_CHECKING:
    from viva.engine.dialogue.asker import Asker


class Opaque(type):
    """The class of stand-ins: the classes of ``collections.abc`` do not take its operators for those of an object."""

    __mro__ = property(lambda cls: (object,))


class StandIn(metaclass=Opaque):
    """An object of the candidate."""

    __slots__ = ("__weakref__", "_about", "_asker", "_number", "_path")

    def __init__(self, asker: Asker, number: int, about: dict, path: str) -> None:
        for name, value in (("_asker", asker), ("_number", number), ("_about", about), ("_path", path)):
            object.__setattr__(self, name, value)

    @property
    def __class__(self):
        """The nearest class that is known here too, for isinstance in libraries."""
        for module, name in object.__getattribute__(self, "_about")["mro"]:
            cls = BUILT_IN.get(name) if module == "builtins" else library(f"{module}:{name}")
            if isinstance(cls, type):
                return cls
        return StandIn

    @property
    def __signature__(self):
        rows, result = ask(self, "signature", step=".__signature__")
        parameters = [
            inspect.Parameter(name, inspect._ParameterKind(kind), default=_read(default), annotation=_read(annotation))
            for name, kind, default, annotation in rows
        ]
        return inspect.Signature(parameters, return_annotation=_read(result))

    @property
    def __name__(self):
        return object.__getattribute__(self, "_about")["name"] or ask(self, "getattr", "__name__", step=".__name__")

    @property
    def __doc__(self):
        return ask(self, "document", step=".__doc__")

    def __getattribute__(self, name: str):
        if name in OPERATORS:
            raise AttributeError(name)  # so that __getattr__ is asked
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str):
        if name in POINTERS:
            raise AttributeError(name)
        return ask(self, "getattr", name, step=f".{name}")

    def __setattr__(self, name: str, value: object) -> None:
        if get_asker(self).is_silent(value):
            with contextlib.suppress(AttributeError):
                if ask(self, "getattr", name, step=f".{name}") is value:
                    return  # as in ``net.weights -= expected``
        ask(self, "setattr", name, value, step=f".{name}=")

    def __delattr__(self, name: str) -> None:
        ask(self, "delattr", name, step=f".{name}=")

    def __iter__(self):
        iterator = ask(self, "iter", step=ITERATED)
        if type(iterator) not in STAND_INS:
            yield from iterator
            return
        while True:
            try:
                item = _next(iterator)
            except StopIteration:
                return
            yield item

    def __instancecheck__(self, other: object) -> bool:
        return type(other) in STAND_INS and ask(other, "isinstance", self, step=" isinstance")

    def __subclasscheck__(self, other: type) -> bool:
        return ask(self, "issubclass", other, self, step=" issubclass", first=False)

    def __enter__(self):
        return ask(self, "enter", step=" enter")

    def __exit__(self, cls: object, error: BaseException | None, trace: object) -> bool:
        asker = get_asker(self)
        told = None if error is None else asker.raised.answer(error)
        swallowed = ask(self, "leave", told, step=" leave")
        return swallowed if error is None else _may_swallow(asker, error, swallowed, get_path(self))

    def __dir__(self):
        return ask(self, "dir", step=" dir")

    def __copy__(self):
        return ask(self, "copy", step="")

    def __deepcopy__(self, memo: dict):
        return ask(self, "deepcopy", step="")


BUILT_IN_PLACES = {
    cls: f"types:{name}" for name, cls in vars(types).items() if isinstance(cls, type) and cls.__module__ == "builtins"
} | {
    cls: f"builtins:{cls.__name__}"
    for cls in (type, property, staticmethod, classmethod, super, zip, map, filter, enumerate, reversed, memoryview)
}
BUILT_IN = {cls.__name__: cls for cls in BUILT_IN_PLACES}
"""Python's own classes of what cannot cross by value."""


def _read(written: tuple[str, object]) -> object:
    """A default or an annotation of a signature."""
    how, value = written
    if how == "empty":
        return inspect.Parameter.empty
    return library(value) if how == "class" else value


def ask(
    stand_in: StandIn, operation: str, *args: object, step: str, kwargs: dict | None = None, first: bool = True
) -> object:
    args = (stand_in, *args) if first else args
    return get_asker(stand_in).operate(operation, *args, path=get_path(stand_in) + step, kwargs=kwargs)


def _next(iterator: StandIn) -> object:
    path = get_path(iterator).removesuffix(ITERATED) + "[*]"
    return get_asker(iterator).operate("next", iterator, path=path)


def _operator(operation: str, step: str, reflected: bool = False):
    if reflected:
        return lambda self, other: ask(self, operation, other, self, step=step, first=False)
    return lambda self, *args: ask(self, operation, *args, step=step)


def _in_place(operation: str):
    def change(self: StandIn, other: object) -> object:
        value = ask(self, operation, other, step=f" {operation}")
        return self if identical(self, value) else value

    return change


def method_of(stand_in: StandIn) -> Callable:
    """A function that calls what a stand-in stands for, and is nothing else to a test."""

    def method(*args: object, **kwargs: object) -> object:
        return ask(stand_in, "call", *args, step="()", kwargs=kwargs)

    method.viva_number = get_number(stand_in)
    return method


def is_class(value: object) -> bool:
    """Whether a stand-in stands for a class."""
    return type(value) in STAND_INS and object.__getattribute__(value, "_about")["class"]


def can_be_called(value: object) -> bool:
    return type(value) in STAND_INS and object.__getattribute__(value, "_about")["callable"]


def get_asker(stand_in: StandIn) -> Asker:
    return object.__getattribute__(stand_in, "_asker")


def get_path(stand_in: StandIn) -> str:
    return object.__getattribute__(stand_in, "_path")


def get_number(stand_in: StandIn) -> int:
    return object.__getattribute__(stand_in, "_number")


def _may_swallow(asker: Asker, error: BaseException, swallowed: object, path: str) -> bool:
    """Whether a context manager may keep an exception to itself: as the solution's did.

    Where the solution's let it out in this very check the test may catch it, and has to find out that the
    student's does not. What the test itself asserted there counts all the same.
    """
    known = next((cls.__name__ for cls in type(error).mro() if cls.__module__ == "builtins"), "")
    theirs = hasattr(error, "viva_traceback")
    let_out = f"{path}{LETS_OUT}{asker.check}: {'their' if theirs else 'our'} {known}"
    if not swallowed:
        if asker.kinds.recording:
            asker.kinds.known[let_out] = PLAIN
        return False
    if asker.kinds.allows(SWALLOWS + known, path):
        return True
    if let_out not in asker.kinds.known:
        return False
    if not theirs and isinstance(error, AssertionError):
        asker.asserted = asker.asserted or error
        return False
    return True


def identical(one: object, other: object) -> bool:
    """Whether the two are one object of the candidate, or simply one object."""
    look_at(one, other)
    if type(one) in STAND_INS and type(other) in STAND_INS:
        return get_number(one) == get_number(other)
    for mine, its in ((one, other), (other, one)):
        if type(its) in STAND_INS and (place := object.__getattribute__(its, "_about")["origin"]):
            return library(place) is mine
    return one is other


_STEPS = {"getitem": "[]", "setitem": "[]=", "delitem": "[]=", "len": " len", "contains": " in"}
for _name in (
    "getitem setitem delitem contains len repr str bool hash int float complex abs round reversed format index "
    "eq ne lt le gt ge neg pos invert"
).split():
    setattr(StandIn, f"__{_name}__", _operator(_name, _STEPS.get(_name, f" {_name}")))
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split():
    _operation = {"and": "and_", "or": "or_"}.get(_name, _name)
    setattr(StandIn, f"__{_name}__", _operator(_operation, f" {_name}"))
    setattr(StandIn, f"__r{_name}__", _operator(_operation, f" {_name}", reflected=True))
    if _name != "divmod":
        setattr(StandIn, f"__i{_name}__", _in_place(f"i{_name}"))


class CallableStandIn(StandIn):
    """A function, class or callable object of the candidate."""

    __slots__ = ()
    __doc__ = vars(StandIn)["__doc__"]

    def __call__(self, /, *args: object, **kwargs: object):
        return ask(self, "call", *args, step="()", kwargs=kwargs)


class IteratorStandIn(StandIn):
    """A generator or other iterator of the candidate."""

    __slots__ = ()
    __doc__ = vars(StandIn)["__doc__"]

    def __iter__(self):
        if object.__getattribute__(self, "_about")["mro"][0][0] == "builtins":
            return self
        iterator = ask(self, "iter", step=ITERATED)  # a student's class may give another one
        return self if identical(iterator, self) else iterator

    def __next__(self):
        return _next(self)


class CallableIteratorStandIn(IteratorStandIn, CallableStandIn):
    """An iterator of the candidate that can be called as well."""

    __slots__ = ()
    __doc__ = vars(StandIn)["__doc__"]


STAND_INS = (StandIn, CallableStandIn, IteratorStandIn, CallableIteratorStandIn)
OPERATORS = {name for cls in (object, *STAND_INS) for name in vars(cls) if name[:2] == "__"} - {
    *("__class__", "__signature__", "__name__", "__doc__", "__getattribute__", "__weakref__"),
    *("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__instancecheck__", "__subclasscheck__"),
}
"""What a stand-in has for Python's own use; a test that looks for one means the object's, as ``hasattr(x, "__len__")``.
The others are looked up on a stand-in itself, by Python or by ``copy``."""
