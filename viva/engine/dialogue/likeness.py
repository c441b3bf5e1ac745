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


def can_be_told(kind: object) -> bool:
    """Whether there can be a likeness: an ExceptionGroup cannot be without exceptions in it."""
    return isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, BaseExceptionGroup)


def make(kind: type[BaseException], args: tuple, attributes: dict, **about: object) -> BaseException:
    """An exception of a class, or of its likeness, that was not initialised; ``about`` stands in its dictionary too."""
    base = kind
    while base.__flags__ & WRITTEN_IN_PYTHON:
        base = base.__base__
    error = base.__new__(kind)
    BaseException.args.__set__(error, args)
    if isinstance(error, StopIteration):  # ``yield from`` reads the field without a look whether there is anything
        StopIteration.__init__(error, *args)
    allowed = _allowed(kind)
    known = {name: value for name, value in attributes.items() if _may_be(allowed, name, value)}
    BaseException.__dict__["__dict__"].__get__(error).update(known | about)
    return error


def like(kind: type[BaseException], args: tuple, attributes: dict, message: str, **about: object) -> BaseException:
    """An exception of a library's class with these arguments and attributes, and with this text."""
    about["viva_message"] = message
    if _is_plain(kind):
        error = make(kind, args, attributes, **about)
        try:
            str(error)
            return error
        except Exception:  # an int of more than 4300 digits has no text
            pass
    return make(_likeness(kind), args, attributes, **about)


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


def seen(kind: type) -> type:
    """The class that test code is to see in place of one made here."""
    return vars(kind).get("viva_like", kind)


def _may_be(allowed: dict[str, frozenset | None], name: object, value: object) -> bool:
    if type(name) is not str or name[:1] == "_" or name[:5] == "viva_":
        return False
    return name not in allowed or allowed[name] is None or type(value) in allowed[name]


@functools.cache
def _fields(kind: type) -> frozenset[str]:
    """The names of the fields that a class has beyond those of every exception."""
    own = [base for base in kind.__mro__ if base not in BaseException.__mro__]
    names = {name for base in own for name, what in vars(base).items() if isinstance(what, DESCRIPTORS)}
    return frozenset(names - {"__dict__", "__weakref__"})


def _allowed(kind: type) -> dict[str, frozenset | None]:
    """By name the types that may be told of a class's fields."""
    found: dict[str, frozenset | None] = dict.fromkeys(_fields(kind), frozenset())
    for base, fields in FIELDS.items():
        if issubclass(kind, base):
            found |= fields
    return found


@functools.cache
def _is_plain(kind: type) -> bool:
    """Whether a class has no fields, and no text of its own."""
    return not _fields(kind) and kind.__str__ in PLAIN_TEXTS


@functools.cache
def _likeness(kind: type) -> type:
    members = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    members |= {"__class__": property(lambda error: kind), "__str__": told, "viva_like": kind}
    members |= {"__copy__": lambda error: error, "__deepcopy__": lambda error, memo: error}  # else C code is told all
    return type(kind)(kind.__name__, (kind,), hiding([kind]) | members)
