"""The guard of the examiner: it runs its tests and its libraries as code, and no text or bytes from an answer.

Theory of operation. A text is plain data and crosses, so a test may run what a student wrote where the hidden tests
are. Many such cells are told by their text (``singleprocess``). Of the others, as of those that call a library
which evaluates what it is handed, an audit hook (PEP 578) hears, which Python code cannot take away.
While a check runs, a text is run only if it stands in the tests or is a library's own, a pickle may hold only what
plain data is made of, and no file is imported that was written meanwhile. A cell in which that refuses something to
the solution is one that the solution does not pass in two processes, and so runs in the candidate. In the rehearsal
more is refused: whatever the solution answered, also where it stands in the tests by chance and where a library makes
code of it, since a student's answer may be another.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # what string.Formatter reads a template with
import contextlib
import functools
import os
import re
import sqlite3
import string
import sys
import time
import types
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from viva.sandbox.landlock import readable_by_default
from viva.verdict import CandidateFault, CandidateLied

LIBRARIES = ("<frozen", *(f"{path}/" if os.path.isdir(path) else path for path in readable_by_default()))
HEARD = frozenset({"compile", "exec", "pickle.find_class", "marshal.loads", "open"})
WRITING = re.compile(
    r"""
    \b (?: delete \s+ from | drop \s+ \w | alter \s+ table | create \s+ \w | update \s+ \S+ \s+ (\w+ \s+){0,2} set
    | (?: insert | replace ) \s+ (?: or \s+ \w+ \s+ )? into ) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A statement of SQL that changes a database."""
PIPE = re.compile(r"/(dev|proc)/(.*/)?fd/")
WORD = re.compile(r"(?<!\w)[^\W\d]\w*")
LEAST = 3
"""A text of fewer characters a library may run by chance."""
TEXTS = 100_000
"""The most texts of the solution's that are known."""
MESSAGES, SHORT = 200, 100_000
"""The most answers that are kept, and the most bytes of each."""
DATA = frozenset(
    "numpy pandas datetime decimal fractions collections pathlib zoneinfo copyreg copy_reg _codecs".split()
)
BUILT_IN = frozenset(
    "object bool int float complex str bytes bytearray list tuple dict set frozenset range slice Ellipsis "
    "xrange unicode long".split()  # as older pickles call them
)
REBUILDING = re.compile(
    r"_(ma)?reconstruct(or)? | scalar | _frombuffer | __newobj(_ex)?__ | encode | NA | _new_\w+ | \w*unpickle\w*",
    re.VERBOSE,
)
"""Functions by which these libraries say what a pickle is to be made of."""
FRAMES = frozenset("gi_frame cr_frame ag_frame tb_frame f_globals f_locals f_builtins".split())
"""Attributes of Python's own that lead to the names of some code."""


class Guard:
    """Hears what the examiner does; ``refuse`` is told the result, and raises."""

    def __init__(self, refuse: Callable[[CandidateFault], NoReturn], descriptors: range) -> None:
        self.refuse = refuse
        self.descriptors = descriptors
        """Those over which the processes speak."""
        self.awake = self.recording = False
        self.own: set[str] = set()
        """The texts that stand in the code of the tests."""
        self.answered: set[str] = set()
        """Texts that the solution answered."""
        self.messages: deque[bytes] = deque(maxlen=MESSAGES)
        """The latest messages of answers, which hold texts as they are."""
        self.strange: set[str] = set()
        """The names under which texts of others were compiled."""
        self.wrote = False
        """Whether a text from an answer changed a database of the running check's."""
        self.scratch = os.path.realpath(os.getcwd())
        self.began = time.time_ns()

    def watch(self) -> None:
        sys.addaudithook(self._hear)
        sqlite3.connect = sqlite3.dbapi2.connect = self._listening(sqlite3.connect)

    def _listening(self, connect: Callable) -> Callable:
        """The same function, whose connections tell each statement."""

        @functools.wraps(connect)
        def connecting(*args: Any, **kwargs: Any) -> Any:
            connection = connect(*args, **kwargs)
            connection.set_trace_callback(self._hear_statement)
            return connection

        return connecting

    def begin(self, *codes: types.CodeType | None, awake: bool) -> None:
        """Begin to guard: code of the instructor's runs from now on, a check or one that no student has to do with."""
        self.strange.clear()
        self.wrote = False
        for code in filter(None, codes):
            self.own.update(texts_of(code))
        self.awake = awake

    def note(self, answer: Any, message: bytes = b"") -> None:
        """Remember an answer: all of it as it came, where it is not large, and the solution's texts in it."""
        if 0 < len(message) <= SHORT:
            self.messages.append(message)
        todo = [answer] if self.recording else []
        while todo and len(self.answered) < TEXTS:
            part = todo.pop()
            cls = type(part)  # isinstance asks a proxy for what it stands
            if cls is str:
                self.answered.add(part.strip())
            elif cls is bytes:
                self.answered.add(part.decode(errors="replace").strip())
            elif cls in (list, tuple, set, frozenset):
                todo += part
            elif issubclass(cls, dict):
                todo += [*part, *part.values()]
            elif cls is np.ndarray and part.dtype.kind in "USO":
                todo += part.ravel().tolist()
            elif cls.__module__.partition(".")[0] == "pandas" and hasattr(cls, "to_numpy"):
                todo.append(part.to_numpy())

    def formatting(self, method: Any) -> object:
        """The method ``format``, which refuses a text of a student's that goes into Python's own attributes.

        From any object of a class "{0.__init__.__globals__}" comes to all names of the tests.
        """
        cls = type(method)  # what a proxy has it would ask for
        if cls is types.BuiltinMethodType and type(method.__self__) is str:
            self._fill_in(method.__self__)
        elif method is str.format or (cls is types.MethodType and isinstance(method.__self__, string.Formatter)):
            return lambda text, *args, **kwargs: method(self._fill_in(text), *args, **kwargs)
        return method

    def _fill_in(self, text: object) -> object:
        if self.awake and type(text) is str and text.strip() not in self.own and _goes_inside(text):
            self._refuse("use a format string of your code that reads Python's internal attributes")
        return text

    def look_up(self, name: str, value: object) -> None:
        """Refuse what a library asks of ``__main__`` by a name that no test says, as YAML may, or logging's
        configuration; the classes of the tests may be asked for.
        """
        unnamed = self.own.isdisjoint((name, f"__main__.{name}")) and not isinstance(value, type)
        if self.awake and unnamed and from_library(sys._getframe(2)):
            self._refuse(f"look up {name[:100]!r} for your code")

    def _hear(self, event: str, values: tuple) -> None:
        if not self.awake or event not in HEARD:  # of id() and imports there are many
            return
        match event, values:
            case "compile", (str() | bytes() as text, name):
                text = text if isinstance(text, str) else text.decode(errors="replace")
                if self._is_strange(text.strip(), sys._getframe(1)):
                    self.strange.add(str(name))
            case "exec", (code,) if code.co_filename in self.strange:
                self._refuse("run text from your code as code")
            case "exec", (code,) if self._is_new(code.co_filename):
                self._refuse("import a file that your code wrote")
            case "pickle.find_class", (module, name) if not _is_data(str(module), str(name)):
                self._refuse(f"unpickle {f'{module}.{name}'[:100]!r} for your code")
            case "marshal.loads", _ if not from_library(sys._getframe(1)):
                self._refuse("run text from your code as code")
            case "open", (int() as descriptor, *_) if descriptor in self.descriptors:
                self._refuse(f"open the file {descriptor} for your code")
            case "open", (str() | bytes() as path, *_) if PIPE.match(os.fsdecode(path)):
                self._refuse("open a file descriptor for your code")

    def _hear_statement(self, statement: str) -> None:
        """Note a statement of SQL that changes a database, and that stands in an answer."""
        if self.awake and not self.wrote and WRITING.search(statement):
            encoded = statement.strip().encode(errors="surrogatepass")
            self.wrote = any(encoded in message for message in self.messages)

    def _is_strange(self, text: str, frame: types.FrameType) -> bool:
        """Whether a text that is compiled may be an answer, made of one, or a part of one."""
        if not text:
            return False
        if self.recording and (
            text in self.answered or any(_is_more(answer) and answer in text for answer in self.answered)
        ):
            return True
        if not from_library(frame):
            return not self._is_own(text, frame)
        encoded = text.encode(errors="surrogatepass")
        return _is_more(text) and text not in self.own and any(encoded in message for message in self.messages)

    def _is_own(self, text: str, frame: types.FrameType) -> bool:
        """Whether a text stands in the tests or in a module of the course's, or is made of names that stand there."""
        texts = self.own.union(*(texts_of(caller.f_code) for caller in _callers(frame)))
        return text in texts or texts.issuperset(WORD.findall(text)) or self._is_file(text)

    def _is_file(self, text: str) -> bool:
        """Whether a text is that of a module of the course's, as in ``exec(open("helpers.py").read())``."""
        modules = [path for path in Path(self.scratch).glob("*.py") if path.is_file() and not self._is_new(str(path))]
        return any(path.read_text(errors="replace").strip() == text for path in modules)

    def _is_new(self, path: str) -> bool:
        """Whether code is of a file in its own folder that was written since; the course's were there before."""
        path = os.path.join(self.scratch, path)
        return path.startswith(f"{self.scratch}/") and os.path.isfile(path) and os.stat(path).st_ctime_ns > self.began

    def _refuse(self, action: str) -> NoReturn:
        self.refuse(CandidateLied(f"a test must not {action}"))


def texts_of(code: types.CodeType) -> Iterator[str]:
    """The texts in the constants of some code, and of the functions in it."""
    todo: list[object] = [code]
    for part in todo:
        if isinstance(part, str):
            yield part.strip()
        elif isinstance(part, types.CodeType):
            todo += part.co_consts
        elif isinstance(part, tuple | frozenset):
            todo += part


def _callers(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        if not from_library(frame):
            yield frame
        frame = frame.f_back


def from_library(frame: types.FrameType) -> bool:
    """Whether a frame runs code of a library, or of Python's own."""
    return frame.f_code.co_filename.startswith(LIBRARIES)


def _is_more(text: str) -> bool:
    """Whether a text is more than a name or a number, which may stand in a library's code by chance."""
    return len(text) >= LEAST and not text.isidentifier() and not text.isdecimal()


def _goes_inside(text: str) -> bool:
    """Whether a format asks for private attributes, or for those of Python's frames."""
    with contextlib.suppress(ValueError):  # which format() will raise as well
        for _, field, spec, _ in _string.formatter_parser(text):
            _, path = _string.formatter_field_name_split(field or "")
            if any(attribute and (name[:1] == "_" or name in FRAMES) for attribute, name in path):
                return True
            if spec and _goes_inside(spec):
                return True
    return False


def _is_data(module: str, name: str) -> bool:
    """Whether a pickle names a class of plain data, or what such a class is made by."""
    if module in ("builtins", "__builtin__"):
        return name in BUILT_IN
    if module == "__main__":  # where it is a test's own class
        return isinstance(dict.get(getattr(sys.modules[module], "__names__", {}), name), type)
    value = getattr(sys.modules.get(module), name, None)
    return module.partition(".")[0] in DATA and (isinstance(value, type) or bool(REBUILDING.fullmatch(name)))
