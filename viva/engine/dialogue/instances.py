"""``isinstance``, ``issubclass``, ``type`` and ``id`` as test code sees them: a stand-in is what it stands for."""

from __future__ import annotations

from viva.engine.dialogue.exceptions import library
from viva.engine.dialogue.likeness import seen
from viva.engine.dialogue.misfit import look_at
from viva.engine.dialogue.operations import origin
from viva.engine.dialogue.standin import BUILT_IN, BUILT_IN_PLACES, STAND_INS, ask, get_asker, get_number


def the_one(value: object) -> object:
    """Of all stand-ins for an object always the same, for who looks whether two things are one without asking us."""
    if type(value) in STAND_INS:
        return get_asker(value).references.ones.setdefault(get_number(value), value)
    look_at(value)
    return value


def identity(value: object) -> int:
    """``id`` as test code sees it."""
    return id(the_one(value))


def is_instance(value: object, classes: object) -> bool:
    """``isinstance`` as test code sees it."""
    look_at(value)
    if type(value) in STAND_INS:
        if isinstance(classes, tuple):
            return any(is_instance(value, cls) for cls in classes)
        if type(classes) in STAND_INS or library(origin(classes)) is classes or classes in BUILT_IN_PLACES:
            return ask(value, "isinstance", classes, step=" isinstance")
    return isinstance(value, classes)


def is_subclass(cls: object, classes: object) -> bool:
    """``issubclass`` as test code sees it."""
    if type(cls) in STAND_INS:
        if isinstance(classes, tuple):
            return any(is_subclass(cls, one) for one in classes)
        return ask(cls, "issubclass", classes, step=" issubclass")
    return issubclass(cls, classes)


class _TypeOfType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, value: type) -> bool:
        return issubclass(value, type)

    def __call__(cls, *args, **kwargs):
        look_at(*args[:1])
        if len(args) == 1 and type(args[0]) in STAND_INS:
            module, name = object.__getattribute__(args[0], "_about")["mro"][0]
            found = BUILT_IN.get(name) if module == "builtins" else library(f"{module}:{name}")
            return found if isinstance(found, type) else ask(args[0], "type", step=" type")
        known = type(*args, **kwargs)
        return seen(known) if len(args) == 1 else known


class Type(metaclass=_TypeOfType):
    """``type`` as test code sees it: it knows the class of what a stand-in stands for."""
