"""Exceptions of a library's class that hold only what a stranger may say of them.

Theory of operation. The fields of an exception that C code wrote are read by C code, which believes them: the text
of a UnicodeDecodeError whose ``start`` lies outside shows foreign memory, and a StopIteration without a value ends the
process. So nothing that came over the wire is written into such a field, and nothing is computed from one. Where
a class has no fields and no text of its own (ValueError, KeyError, LinAlgError) the exception is of that very class.
Otherwise it is of a class derived from it, which hides each field behind a name in the exception's own dictionary,
and whose text is what was told. Test code does not see the difference: ``type`` and ``__class__`` give the library's.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable

import numpy as np

TEXT = frozenset({str})
NUMBER = frozenset({int})
PATH = frozenset({str, bytes, int})
FIELDS: dict[type, dict[str, frozenset | None]] = {
    OSError: {"errno": NUMBER, "strerror": TEXT, "filename": PATH, "filename2": PATH, "characters_written": NUMBER},
    UnicodeError: {
        "encoding": TEXT,
        "object": frozenset({str, bytes}),
        "start": NUMBER,
        "end": NUMBER,
        "reason": TEXT,
    },
    SyntaxError: {
        "msg": TEXT,
        "filename": PATH,
        "lineno": NUMBER,
        "offset": NUMBER,
        "text": TEXT,
        "end_lineno": NUMBER,
        "end_offset": NUMBER,
    },
    ImportError: {"msg": TEXT, "name": TEXT, "path": TEXT},
    NameError: {"name": TEXT},
    AttributeError: {"name": TEXT, "obj": None},
    StopIteration: {"value": None},
    SystemExit: {"code": None},
    np.exceptions.AxisError: {"axis": NUMBER, "ndim": NUMBER},
}
"""Which fields may be told, and of which types they are (None: any); one that is not listed stays None."""

WRITTEN_IN_PYTHON = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: such a class adds nothing to how its base lies in memory but a dictionary and slots."""
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
PLAIN_TEXTS = (BaseException.__str__, KeyError.__str__)


def can_be_told(cls: object) -> bool:
    """Whether there can be a likeness: an ExceptionGroup cannot be without exceptions in it."""
    return isinstance(cls, type) and issubclass(cls, Exception) and not issubclass(cls, BaseExceptionGroup)


def make(cls: type[BaseException], args: tuple, attributes: dict, **about: object) -> BaseException:
    """An exception of a class, or of its likeness, that was not initialised; ``about`` stands in its dictionary too."""
    base = cls
    while base.__flags__ & WRITTEN_IN_PYTHON:
        base = base.__base__
    error = base.__new__(cls)
    BaseException.args.__set__(error, args)
    if isinstance(error, StopIteration):  # ``yield from`` reads the field without a look whether there is anything
        StopIteration.__init__(error, *args)
    allowed = _allowed(cls)
    known = {name: value for name, value in attributes.items() if _may_be(allowed, name, value)}
    BaseException.__dict__["__dict__"].__get__(error).update(known | about)
    return error


def like(cls: type[BaseException], args: tuple, attributes: dict, message: str, **about: object) -> BaseException:
    """An exception of a library's class with these arguments and attributes, and with this text."""
    about["viva_message"] = message
    if _is_plain(cls):
        error = make(cls, args, attributes, **about)
        try:
            str(error)
            return error
        except Exception:  # an int of more than 4300 digits has no text
            pass
    return make(_likeness(cls), args, attributes, **about)


def hiding(bases: Iterable[type]) -> dict[str, None]:
    """For a class derived from exceptions: the names of their fields, with nothing in them."""
    found = {}
    for base in bases:
        found |= dict.fromkeys(_fields(base))
    return found


def told(error: BaseException) -> str:
    """The text of a likeness: what was told, as nothing is computed."""
    message = vars(error).get("viva_message")
    return message if type(message) is str else BaseException.__str__(error)


def seen(cls: type) -> type:
    """The class that test code is to see in place of one made here."""
    return vars(cls).get("viva_like", cls)


def _may_be(allowed: dict[str, frozenset | None], name: object, value: object) -> bool:
    if type(name) is not str or name[:1] == "_" or name[:5] == "viva_":
        return False
    return name not in allowed or allowed[name] is None or type(value) in allowed[name]


@functools.cache
def _fields(cls: type) -> frozenset[str]:
    """The names of the fields that a class has beyond those of every exception."""
    own = [base for base in cls.__mro__ if base not in BaseException.__mro__]
    names = {name for base in own for name, what in vars(base).items() if isinstance(what, DESCRIPTORS)}
    return frozenset(names - {"__dict__", "__weakref__"})


def _allowed(cls: type) -> dict[str, frozenset | None]:
    """By name the types that may be told of a class's fields."""
    found: dict[str, frozenset | None] = dict.fromkeys(_fields(cls), frozenset())
    for base, fields in FIELDS.items():
        if issubclass(cls, base):
            found |= fields
    return found


@functools.cache
def _is_plain(cls: type) -> bool:
    """Whether a class has no fields, and no text of its own."""
    return not _fields(cls) and cls.__str__ in PLAIN_TEXTS


@functools.cache
def _likeness(cls: type) -> type:
    members = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    members |= {"__class__": property(lambda error: cls), "__str__": told, "viva_like": cls}
    members |= {"__copy__": lambda error: error, "__deepcopy__": lambda error, memo: error}  # else C code is told all
    return type(cls)(cls.__name__, (cls,), hiding([cls]) | members)
