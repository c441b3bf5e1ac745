"""Proxies: the examiner's objects for things that live in the candidate.

Every operation on a proxy is a question to the candidate; the answer is plain data, or another proxy. A proxy can be
called; it has attributes, items, iteration, len, in, bool, isinstance, arithmetic and comparison, and the texts and
numbers that Python asks an object for. Anything else is refused; a test that needs it is a single-process cell.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn, TypeGuard

from viva.engine import wire
from viva.engine.dialogue.exceptions import seen
from viva.engine.dialogue.expected import CALL, EACH, ITEM, ITERATED, Path, Step, library
from viva.engine.dialogue.guard import from_library
from viva.engine.dialogue.objects import origin
from viva.verdict import CandidateFault

POINTERS = ("__array_interface__", "__array_struct__")
"""Attributes in which NumPy finds an address in memory. The candidate's would be read in the examiner's."""


class Home:
    """The connection that all proxies of one candidate share."""

    def __init__(self, ask: Callable[..., object]) -> None:
        """``ask(operation, *args, path, kwargs)`` puts a question."""
        self.ask = ask
        self.private: dict[tuple[int, str], object] = {}
        """Private attributes that a library here gave to objects, by the number of the object and the name."""


class Opaque(type):
    """The class of proxies: the classes of ``collections.abc`` do not take its operators for those of an object."""

    __mro__ = property(lambda cls: (object,))


class Proxy(metaclass=Opaque):
    """An object of the candidate."""

    __slots__ = ("__weakref__", "_about", "_home", "_number", "_path")

    def __init__(self, home: Home, number: int, description: dict, path: Path) -> None:
        for name, value in (("_home", home), ("_number", number), ("_about", description), ("_path", path)):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]  # that it is read-only is what typeshed does not foresee
    def __class__(self):
        """The nearest class that is known here too, for isinstance in libraries."""
        for module, name in about(self)["mro"]:
            cls = BUILT_IN.get(name) if module == "builtins" else library(f"{module}:{name}")
            if isinstance(cls, type):
                return cls
        return Proxy

    @property
    def __name__(self):
        return about(self)["name"] or ask(self, "getattr", "__name__", step=Step("attribute", "__name__"))

    @property
    def __doc__(self):
        return ask(self, "getattr", "__doc__", step=Step("attribute", "__doc__"))

    def __getattribute__(self, name: str):
        if name in OPERATORS:
            raise AttributeError(name)  # so that __getattr__ is asked
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str):
        if name in POINTERS:
            raise AttributeError(name)
        if (key := (number_of(self), name)) in (private := private_of(self)):
            return private[key]
        return ask(self, "getattr", name, step=Step("attribute", name))

    def __setattr__(self, name: str, value: object) -> None:
        key = number_of(self), name
        private_of(self).pop(key, None)
        # As scikit-learn's pipelines tell their steps where they stand.
        if name[:1] == "_" and from_library(sys._getframe(1)) and not wire.is_plain(value):
            private_of(self)[key] = value
        else:
            ask(self, "setattr", name, value, step=Step("operation", "setattr"))

    def __delattr__(self, name: str) -> None:
        if (key := (number_of(self), name)) in (private := private_of(self)):
            del private[key]
        else:
            ask(self, "delattr", name, step=Step("operation", "setattr"))

    def __iter__(self):
        iterator = ask(self, "iter", step=ITERATED)
        if type(iterator) not in PROXIES:
            yield from iterator
            return
        while True:
            try:
                item = _next(iterator)
            except StopIteration:
                return
            yield item

    def __instancecheck__(self, instance: Any) -> bool:
        instance = stood_for(instance)
        return type(instance) in PROXIES and ask(instance, "isinstance", self, step=Step("operation", "isinstance"))

    def __subclasscheck__(self, subclass: type) -> bool:
        return ask(self, "issubclass", subclass, self, step=Step("operation", "issubclass"), first=False)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(UNCOPIED)

    __copy__ = __deepcopy__ = __reduce_ex__ = __reduce__ = _refuse


UNCOPIED = "an object of the student's code cannot be copied by the test"
"""What a test is told that copies an object of a class of the student's own, which the solution does not have."""
BUILT_IN_PLACES = {
    cls: f"types:{name}" for name, cls in vars(types).items() if isinstance(cls, type) and cls.__module__ == "builtins"
} | {
    cls: f"builtins:{cls.__name__}"
    for cls in (type, property, staticmethod, classmethod, super, zip, map, filter, enumerate, reversed, memoryview)
}
BUILT_IN = {cls.__name__: cls for cls in BUILT_IN_PLACES}
"""Python's own classes of what cannot cross by value."""


def ask(
    proxy: Proxy, operation: str, *args: object, step: Step | None, kwargs: dict | None = None, first: bool = True
) -> Any:
    """The result of an operation on a proxy; ``step`` is the step of its path."""
    path = path_of(proxy) if step is None else path_of(proxy).then(step)
    args = (proxy, *args) if first else args
    return object.__getattribute__(proxy, "_home").ask(operation, *args, path=path, kwargs=kwargs)


def _next(iterator: Proxy) -> Any:
    path = path_of(iterator)
    steps = path.steps[:-1] if path.steps[-1:] == (ITERATED,) else path.steps
    return object.__getattribute__(iterator, "_home").ask("next", iterator, path=path._replace(steps=steps).then(EACH))


def _operator(operation: str, step: Step, reflected: bool = False):
    if reflected:
        return lambda self, operand: ask(self, operation, operand, self, step=step, first=False)
    return lambda self, *args: ask(self, operation, *args, step=step)


def _in_place(operation: str):
    def change(self: Proxy, operand: object) -> Any:
        value = ask(self, operation, operand, step=Step("operation", operation))
        return self if identical(self, value) else value

    return change


def about(proxy: Proxy) -> dict:
    """The facts about an object."""
    return object.__getattribute__(proxy, "_about")


def private_of(proxy: Proxy) -> dict[tuple[int, str], object]:
    """The private attributes that stay here, of all objects."""
    return object.__getattribute__(proxy, "_home").private


def path_of(proxy: Proxy) -> Path:
    return object.__getattribute__(proxy, "_path")


def number_of(proxy: Proxy) -> int:
    return object.__getattribute__(proxy, "_number")


def is_class(value: Any) -> bool:
    """Whether a proxy stands for a class."""
    return type(value) in PROXIES and about(value)["class"]


def stood_for(value: Any) -> Any:
    """The proxy for what an object of a library stands for here (``values/sharing``); any other value itself."""
    proxy_of = getattr(type(value), "viva_proxy", None)
    return proxy_of(value) if proxy_of else value


def can_be_called(value: Any) -> TypeGuard[Proxy]:
    return type(value) in PROXIES and about(value)["callable"]


def method_of(proxy: Proxy) -> Callable:
    """A function that calls what a proxy stands for, and is nothing else to a test."""

    def method(*args: object, **kwargs: object) -> Any:
        return ask(proxy, "call", *args, step=CALL, kwargs=kwargs)

    vars(method)["viva_number"] = number_of(proxy)
    return method


def refusing(fault: CandidateFault, refuse: Callable[[CandidateFault], NoReturn], value: Proxy | None = None) -> Proxy:
    """A proxy for an answer that a test may have asked for the sake of the call alone, as in ``stack.push(1)``.

    Whatever a test asks of it is refused, so that no operator of a student's decides a comparison. One that stands for
    a ``value`` the test can return to the student's code. It can ask whether that is true, as of a match of ``re``
    where the solution gave a bool: the student's function could have given this answer itself.
    """
    described = {"mro": [], "class": False, "callable": True, "name": "", "origin": ""}

    def ask_for_truth(operation: str, *args: object, **kwargs: object) -> object:
        return refuse(fault) if value is None or operation != "bool" else bool(value)

    return CallableProxy(Home(ask_for_truth), -1 if value is None else -2 - number_of(value), described, Path(""))


def is_sealed(value: Any) -> bool:
    """Whether a test can return a proxy to the student's code, ask whether it is true, and do nothing else with it."""
    return type(value) in PROXIES and number_of(value) < -1


def handed_number(proxy: Proxy) -> int:
    """The number of what a proxy stands for, where it is given back; one that refuses even that is refused."""
    return -2 - number_of(proxy) if number_of(proxy) < -1 else known_number(proxy)


def identical(left: Any, right: Any) -> bool:
    """Whether the two are one object of the candidate, or simply one object."""
    left, right = stood_for(left), stood_for(right)
    if type(left) in PROXIES and type(right) in PROXIES:
        return handed_number(left) == handed_number(right)
    for local, remote in ((left, right), (right, left)):
        if type(remote) in PROXIES and (origin := about(remote)["origin"]) and known_number(remote) >= 0:
            return library(origin) is local
    return left is right


def known_number(proxy: Proxy) -> int:
    """The number of what a proxy stands for; one that refuses everything is refused."""
    if number_of(proxy) < 0:
        ask(proxy, "itself", step=None)  # is refused
    return number_of(proxy)


STEPS = {"getitem": ITEM}
for _name in (
    "getitem setitem delitem contains len dir repr str bool hash int float complex abs round reversed format index "
    "eq ne lt le gt ge neg pos invert"
).split():
    setattr(Proxy, f"__{_name}__", _operator(_name, STEPS.get(_name, Step("operation", _name))))
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split():
    _operation = {"and": "and_", "or": "or_"}.get(_name, _name)
    setattr(Proxy, f"__{_name}__", _operator(_operation, Step("operation", _name)))
    setattr(Proxy, f"__r{_name}__", _operator(_operation, Step("operation", _name), reflected=True))
    if _name != "divmod":
        setattr(Proxy, f"__i{_name}__", _in_place(f"i{_name}"))


class CallableProxy(Proxy):
    """A function, class or callable object of the candidate."""

    __slots__ = ()
    __doc__ = vars(Proxy)["__doc__"]

    def __call__(self, /, *args: object, **kwargs: object):
        return ask(self, "call", *args, step=CALL, kwargs=kwargs)


class IteratorProxy(Proxy):
    """A generator or other iterator of the candidate."""

    __slots__ = ()
    __doc__ = vars(Proxy)["__doc__"]

    def __iter__(self):
        if about(self)["mro"][0][0] == "builtins":
            return self
        iterator = ask(self, "iter", step=ITERATED)  # a student's class may give another one
        return self if identical(iterator, self) else iterator

    def __next__(self):
        return _next(self)


PROXIES = (Proxy, CallableProxy, IteratorProxy)
OPERATORS = {name for cls in (object, *PROXIES) for name in vars(cls) if name[:2] == "__"} - {
    *("__class__", "__name__", "__doc__", "__getattribute__", "__weakref__", "__copy__", "__deepcopy__"),
    *("__reduce__", "__reduce_ex__", "__getstate__", "__instancecheck__", "__subclasscheck__"),
}
"""The attributes of a proxy for Python's own use. A test that asks for one means the object's, as in
``hasattr(x, "__len__")``. The others are looked up on a proxy itself, by Python or by ``copy``."""


# --- isinstance, issubclass and type as test code sees them


def is_instance(value: Any, classes: Any) -> bool:
    """``isinstance`` as test code sees it."""
    value = stood_for(value)
    if type(value) in PROXIES:
        known_number(value)
        if isinstance(classes, tuple):
            return any(is_instance(value, cls) for cls in classes)
        if type(classes) in PROXIES or library(origin(classes)) is classes or classes in BUILT_IN_PLACES:
            return ask(value, "isinstance", classes, step=Step("operation", "isinstance"))
    return isinstance(value, classes)


def is_subclass(cls: Any, classes: Any) -> bool:
    """``issubclass`` as test code sees it."""
    if type(cls) in PROXIES:
        if isinstance(classes, tuple):
            return any(is_subclass(cls, base) for base in classes)
        return ask(cls, "issubclass", classes, step=Step("operation", "issubclass"))
    return issubclass(cls, classes)


class _TypeOfType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, value: type) -> bool:
        return issubclass(value, type)

    def __call__(cls, *args, **kwargs):
        args = (stood_for(args[0]),) if len(args) == 1 else args
        if len(args) == 1 and type(args[0]) in PROXIES:
            known_number(args[0])
            module, name = about(args[0])["mro"][0]
            known_class = BUILT_IN.get(name) if module == "builtins" else library(f"{module}:{name}")
            return (
                known_class if isinstance(known_class, type) else ask(args[0], "type", step=Step("operation", "type"))
            )
        result = type(*args, **kwargs)
        return seen(result) if len(args) == 1 else result


class Type(metaclass=_TypeOfType):
    """``type`` as test code sees it: it knows the class of what a proxy stands for."""
