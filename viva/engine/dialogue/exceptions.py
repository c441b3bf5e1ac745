"""Exceptions on their way between candidate and examiner.

Theory of operation. The candidate describes an exception: the classes it belongs to, each with its number
in the candidate's table of objects, its message, and those of its arguments and attributes that are
plain. The examiner makes an exception of its own from that: of its own class, or one like it, where the
class is a library's (a likeness), else of a class made here, which stands for the student's, so that tests
can catch it by that class or a base of it. An exception that crosses back, to a callback's caller or a context
manager, is named by its number; one that the test code made itself is kept here and arrives as something alike.

A likeness is an exception of a library's class that holds only what a stranger may say of it. The fields of an
exception that C code wrote are read by C code, which believes them: the text of a UnicodeDecodeError whose ``start``
lies outside shows foreign memory, and a StopIteration without a value ends the
process. So nothing that came over the wire is written into such a field, and nothing is computed from one. Where
a class has no fields and no text of its own (ValueError, KeyError, LinAlgError) the exception is of that very class.
Otherwise it is of a class derived from it, which hides each field behind a name in the exception's own dictionary,
and whose text is what was told. Test code does not see the difference: ``type`` and ``__class__`` give the library's.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import os
import traceback
import types
from collections.abc import Iterable
from typing import Any, NoReturn, TypeGuard

import numpy as np

import viva
from viva.engine import wire
from viva.engine.dialogue.expected import library
from viva.engine.values.codec import WRITTEN_IN_PYTHON, bases_of, name_of, place_of
from viva.verdict import CandidateLied

# --- likenesses


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
"""The fields that cross, each with its types (None: any); a field that is not listed stays None."""

DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
PLAIN_TEXTS = (BaseException.__str__, KeyError.__str__)


def can_be_told(cls: object) -> TypeGuard[type[Exception]]:
    """Whether there can be a likeness: an ExceptionGroup cannot be without exceptions in it."""
    return isinstance(cls, type) and issubclass(cls, Exception) and not issubclass(cls, BaseExceptionGroup)


def make(cls: type[BaseException], args: tuple, attributes: dict, **notes: object) -> BaseException:
    """An exception of a class, or of its likeness, that was not initialised; ``notes`` stand in its dictionary too."""
    base: Any = cls
    while base.__flags__ & WRITTEN_IN_PYTHON:
        base = base.__base__
    error = base.__new__(cls)
    error_args: Any = BaseException.args  # a descriptor, which is a tuple to typeshed
    error_args.__set__(error, args)
    if isinstance(error, StopIteration):  # ``yield from`` reads the field without a look whether there is anything
        StopIteration.__init__(error, *args)
    allowed = _allowed(cls)
    fields = {name: value for name, value in attributes.items() if _may_be(allowed, name, value)}
    BaseException.__dict__["__dict__"].__get__(error).update(fields | notes)
    return error


def like(cls: type[BaseException], args: tuple, attributes: dict, message: str, **notes: object) -> BaseException:
    """An exception of a library's class with these arguments and attributes, and with this text."""
    notes["viva_message"] = message
    if _is_plain(cls):  # type: ignore[arg-type]  # a class is hashable, whatever its exceptions are
        error = make(cls, args, attributes, **notes)
        try:
            str(error)
            return error
        except Exception:  # an int of more than 4300 digits has no text
            pass
    return make(_likeness(cls), args, attributes, **notes)  # type: ignore[arg-type]  # the same


def hiding(bases: Iterable[type]) -> dict[str, None]:
    """Members that hide the fields of these exception classes in a class derived from them."""
    fields: dict[str, None] = {}
    for base in bases:
        fields |= dict.fromkeys(_fields(base))
    return fields


def _text(error: BaseException) -> str:
    """The text of a likeness: what was told, as nothing is computed."""
    message = vars(error).get("viva_message")
    return message if type(message) is str else BaseException.__str__(error)


def seen(cls: type) -> type:
    """The class that test code is to see in place of one made here."""
    return vars(cls).get("viva_like", cls)


def _may_be(allowed: dict[str, frozenset | None], name: object, value: object) -> bool:
    if type(name) is not str or name[:1] == "_" or name[:5] == "viva_":
        return False
    types = allowed.get(name)
    return types is None or type(value) in types


@functools.cache
def _fields(cls: type) -> frozenset[str]:
    """The names of the fields that a class has beyond those of every exception."""
    classes = [base for base in cls.__mro__ if base not in BaseException.__mro__]
    names = {name for base in classes for name, member in vars(base).items() if isinstance(member, DESCRIPTORS)}
    return frozenset(names - {"__dict__", "__weakref__"})


def _allowed(cls: type) -> dict[str, frozenset | None]:
    """The types that a class's fields may have, by name."""
    types: dict[str, frozenset | None] = dict.fromkeys(_fields(cls), frozenset())
    for base, fields in FIELDS.items():
        if issubclass(cls, base):
            types |= fields
    return types


@functools.cache
def _is_plain(cls: type) -> bool:
    """Whether a class has no fields, and no text of its own."""
    return not _fields(cls) and cls.__str__ in PLAIN_TEXTS


@functools.cache
def _likeness(cls: type) -> type:
    members: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    members |= {"__class__": property(lambda error: cls), "__str__": _text, "viva_like": cls}
    members |= {"__copy__": lambda error: error, "__deepcopy__": lambda error, memo: error}  # else C code is told all
    return type(cls)(cls.__name__, (cls,), hiding([cls]) | members)


TRACEBACK_LINES = 40
CAUSES, ATTRIBUTES, CLASSES = 3, 20, 20
"""How many an exception crosses with."""
MESSAGE, NAME, TRACEBACK = 2000, 200, 8000
"""Characters that are kept of an exception's text."""
WARNINGS, LINES = 100, 10**6
"""The most warnings of an answer that are heeded, and the highest number of their lines."""
KNOWN_CLASSES = 2000
"""The most exception classes that a notebook may have of its own."""

FRAMEWORKS = frozenset({"unittest", "hypothesis"})
"""Libraries whose exceptions skip a test or end it as if it had passed: those of student code only look alike."""


# --- in the candidate


def lineage(cls: type, number_of) -> list[tuple]:
    """A class and all above it: number, module, name, and the numbers of the bases of each."""
    classes = [base for base in type.mro(cls) if base is not object][:CLASSES]
    return [(number_of(base), *place_of(base), [number_of(above) for above in bases_of(base)]) for base in classes]


def told(error: BaseException, number_of, causes: int = CAUSES) -> dict:
    """An exception as a plain dictionary."""
    attributes = {}
    for name in [name for name in dir(error) if name[0] != "_" and name not in ("args", "viva_kept")][:ATTRIBUTES]:
        with contextlib.suppress(Exception):
            if wire.is_plain(value := getattr(error, name)):
                attributes[name] = value
    number = getattr(error, "viva_kept", None)
    return {
        "number": number_of(error),
        "lineage": lineage(type(error), number_of),
        "name": name_of(type(error)),
        "message": safe(str, error)[:MESSAGE],
        "args": error.args if len(error.args) <= ATTRIBUTES and wire.is_plain(error.args) else None,
        "attributes": attributes,
        "traceback": student_traceback(error),
        "cause": told(error.__cause__, number_of, causes - 1) if error.__cause__ and causes else None,
        "kept": number if type(number) is int else None,
    }


def again(described: dict, objects: list) -> BaseException:
    """An exception of the examiner's, as far as it can be made here; one of ours as it is."""
    if described["number"] is not None:
        return objects[described["number"]]
    cls = next(getattr(builtins, name) for name in described["names"] if hasattr(builtins, name))
    try:
        error = cls(*described["args"])
    except Exception:
        error = RuntimeError(described["message"])
    error.viva_kept = described["kept"]
    return error


def safe(function, value: object) -> str:
    try:
        return str(function(value))
    except BaseException:
        return f"<{name_of(type(value))} without a readable text>"


def student_traceback(error: BaseException) -> str:
    """The traceback from the first line of the student's code on."""
    package = os.path.dirname(viva.__file__)
    summary = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in summary if not frame.filename.startswith(package)][-12:]
    lines = [line for text in traceback.format_list(frames) for line in text.splitlines()]
    return "\n".join([*lines[-TRACEBACK_LINES:], f"{name_of(type(error))}: {safe(str, error)}"])[:TRACEBACK]


# --- in the examiner


class StudentClass(type):
    """The class of the classes that stand for a student's exception classes, by which tests catch exceptions.

    A test that raises one itself, or asks for more of it than was told, is a single-process cell.
    """

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        raise TypeError("an exception class in another process cannot be called")


class Raised:
    """The candidate's exceptions and their classes as the examiner knows them."""

    def __init__(self) -> None:
        self.classes: dict[int, type[Exception]] = {}
        self.kept: list[BaseException] = []
        """Exceptions that test code raised into the candidate."""

    def exception(self, described: object) -> BaseException:
        """An exception like the one that the candidate describes. Raises CandidateLied when that makes no sense."""
        if not (isinstance(described, dict) and isinstance(described.get("message"), str)):
            raise CandidateLied("an invalid exception")
        number = described.get("kept")
        if type(number) is int and 0 <= number < len(self.kept):
            return self.kept[number]
        args, attributes = described.get("args"), described.get("attributes")
        error = self.instance(
            self.class_of(described.get("lineage")),
            args if type(args) is tuple else None,
            described["message"][:MESSAGE],
            attributes if type(attributes) is dict and len(attributes) <= ATTRIBUTES else {},
            viva_number=described.get("number"),
            viva_name=_cut(described.get("name"), NAME),
            viva_traceback=_cut(described.get("traceback"), TRACEBACK),
        )
        if described.get("cause"):
            error.__cause__ = self.exception(described["cause"])
        return error

    def instance(
        self, cls: type[Exception], args: tuple | None, message: str, attributes: dict, **notes: object
    ) -> BaseException:
        """An exception of a class that ``cls`` gave; without arguments the message is the only one."""
        args = (message,) if args is None else args
        if type(cls) is StudentClass:
            return make(cls, args, attributes, viva_message=message, **notes)
        return like(cls, args, attributes, message, **notes)

    def warnings(self, warned: object) -> list[tuple[Warning, str, int]]:
        """The warnings of the student's code, to be repeated here, so that filters of test code apply."""
        warnings = []
        for warning in warned[:WARNINGS] if isinstance(warned, list) else ():
            match warning:
                case (lineage, str(message), str(filename), int(line)) if 0 <= line < LINES:
                    cls = self.class_of(lineage)
                    if issubclass(cls, Warning):
                        # Made here: a class of the student's would be asked for it, and could warn again.
                        message = message[:MESSAGE]
                        likeness: Any = self.instance(cls, (message,), message, {})
                        warnings.append((likeness, filename[:NAME], line))
        return warnings

    def class_of(self, lineage: Any) -> type[Exception]:
        """Our class for an exception class of the candidate."""
        try:
            if len(lineage) > CLASSES:
                raise ValueError
            for number, module, name, bases in reversed(lineage):
                if {type(number), type(module), type(name)} != {int, str}:
                    raise ValueError
                if number not in self.classes:
                    self.classes[number] = self._made(number, module, name, bases)
            return self.classes[lineage[0][0]]
        except (TypeError, ValueError, IndexError, KeyError):
            raise CandidateLied("an invalid exception class") from None

    def _made(self, number: int, module: str, name: str, bases: list[int]) -> type[Exception]:
        original: object = None
        with contextlib.suppress(Exception):  # what a module says to a name that it does not have
            original = library(f"{module}:{name}")
        if can_be_told(original) and original.__module__.partition(".")[0] not in FRAMEWORKS:
            return original
        if isinstance(original, type) and issubclass(original, BaseException) and not issubclass(original, Exception):
            return type(original.__name__, (Exception,), {})
        if len(self.classes) >= KNOWN_CLASSES:
            raise ValueError
        above = tuple(dict.fromkeys(self.classes[base] for base in bases if base in self.classes)) or (Exception,)
        members: dict[str, Any] = {**hiding(above), "viva_number": number, "__str__": _text}
        cls: Any = StudentClass(name.rpartition(".")[2][:NAME], above, members)
        return cls

    def answer(self, error: BaseException) -> dict:
        """The message to the candidate about an exception that test code raised into it."""
        number = getattr(error, "viva_number", None)
        self.kept.append(error)
        message = safe(str, error)[:MESSAGE]
        plain = len(error.args) <= ATTRIBUTES and wire.is_plain(error.args)
        return {
            "number": number if type(number) is int else None,
            "names": [cls.__name__ for cls in type(error).mro() if cls.__module__ == "builtins"],
            "message": message,
            "args": error.args if plain else (message,),
            "kept": len(self.kept) - 1,
        }


def _cut(text: object, most: int) -> str:
    return text[:most] if type(text) is str else ""


def left_generator(stop: StopIteration) -> RuntimeError:
    """The RuntimeError that Python makes of a StopIteration that leaves a generator."""
    error = RuntimeError(f"the code raised {type(stop).__name__}")
    vars(error).update(viva_name="RuntimeError", viva_traceback=vars(stop)["viva_traceback"])
    error.__cause__ = stop
    return error
