"""Facts about what a notebook did to the process that ran it: never verdicts, and never worth a point.

Theory of operation. The fork server of the candidates takes a *snapshot* of the libraries and of IPython before it
forks. At the end of a notebook the candidate is asked what is another object now (identities are compared, about a
millisecond), which files outside its folder the student's code tried to open, which connections to make and whether to
start processes (an audit hook, which Python code cannot take away, noted them), and which answers were of a subclass
of a plain type. All of it comes from a process that the student's code shares and can make say anything: what is told
of it is put together in ``facts``. An empty list proves nothing; a fact is a reason to look into the notebook.

What the monitor says comes out of a process that student code may have taken over, so its words are not repeated where
the facts are put together: what it names has to be something that is there to be named (a function of NumPy, a hook of
IPython, a class with a name), else an address or a path, which are quoted. A monitor that says anything else is not
ours any more, and that is told.
"""

from __future__ import annotations

import enum
import importlib
import os
import pkgutil
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, FunctionType
from typing import Any

from viva.cleaning import plaintext
from viva.engine import dialogue, values
from viva.engine.dialogue import objects
from viva.engine.values.codec import CODEC_OF
from viva.engine.values.plain import codec_of
from viva.record import Note, note
from viva.sandbox.landlock import readable_by_default

WATCHED = (
    *("builtins", "math", "random", "operator", "functools", "copy", "inspect"),
    *("numpy", "numpy.linalg", "numpy.random", "numpy.testing", "pandas", "pandas.testing"),
    *("scipy.linalg", "scipy.special", "scipy.stats"),
)
OWN = (
    *(f"viva.engine.{name}" for name in ("candidate", "pipe", "wire")),
    *(
        f"{package.__name__}.{module.name}"
        for package in (dialogue, values)
        for module in pkgutil.iter_modules(package.__path__)
    ),
)
"""The modules of the candidate, and those of the examiner, which a candidate has not loaded."""
HOOKS = ("ast_transformers", "input_transformers_cleanup", "input_transformers_post")
SHELL = frozenset(("IPython",))
READERS = SHELL.union(
    "PIL codecs contextlib glob gzip io json matplotlib numpy os pandas pathlib pickle scipy shutil zipfile".split()
)
"""Libraries that open the file whose name they are handed."""
KERNEL = ("/proc/", "/sys/")
"""Folders where libraries look by themselves, for example for the number of processors."""
OWN_PLACES = ("/dev/null", "/dev/urandom", "/dev/random")
EVENTS = frozenset(("open", "os.listdir", "os.scandir"))
STARTS = frozenset(("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen"))
STARTERS = frozenset(("asyncio", "concurrent", "multiprocessing", "os", "subprocess"))
"""Libraries that start a process for who calls them; others look for the processor, and do without."""
FRAMES, ENTRIES, CHARACTERS = 60, 12, 200
"""Frames in which the caller is looked for, things of a kind that are told, and characters of each."""
ANSWER_SECONDS = 10.0


class Snapshot:
    """The state of the libraries and the shell before any student's code ran."""

    def __init__(self, shell) -> None:
        self.shell = shell
        self.modules = {name: sys.modules[name] for name in WATCHED if name in sys.modules}
        self.places: dict[str, tuple[Mapping[str, Any], dict[str, Any]]] = {
            name: (vars(module), {key: value for key, value in vars(module).items() if _is_watched(key, value)})
            for name, module in self.modules.items()
        }
        for cls in type(shell).__mro__[:3]:
            self.places[cls.__name__] = (vars(cls), {k: v for k, v in vars(cls).items() if _is_watched(k, v)})
        for name in [name for name in OWN if name in sys.modules]:
            self.places |= _own_places(name, vars(sys.modules[name]))
        watched = [
            (f"{name}.{key}", function)
            for name, (_, members) in self.places.items()
            for key, function in members.items()
        ]
        self.code = {function: (label, function.__code__) for label, function in reversed(watched) if _is_own(function)}
        self.own, self.names = dict(vars(shell)), shell.user_ns
        self.lists = {name: list(getattr(shell, name, ())) for name in HOOKS}
        self.callbacks = {event: list(functions) for event, functions in shell.events.callbacks.items()}
        self.exceptions = shell.custom_exceptions

    def touched(self) -> Iterator[str]:
        """The functions, classes and modules of the libraries that are not the ones that were loaded."""
        for name, module in self.modules.items():
            if sys.modules.get(name) is not module:
                yield name
        for name, (now, before) in self.places.items():
            for key, value in before.items():
                if now.get(key) is not value:
                    yield f"{name}.{key}"
        for function, (label, code) in self.code.items():
            if function.__code__ is not code:
                yield label

    def hooks(self) -> Iterator[str]:
        """The hooks added to IPython that see or change other cells."""
        for name, before in self.lists.items():
            if any(not any(function is old for old in before) for function in getattr(self.shell, name, ())):
                yield name
        for event, functions in self.shell.events.callbacks.items():
            callbacks = self.callbacks.get(event, [])
            if any(function not in callbacks and not _from_library(function) for function in functions):
                yield f"events ({event})"
        if self.shell.custom_exceptions != self.exceptions:
            yield "set_custom_exc"
        if self.shell.user_ns is not self.names:
            yield "user_ns"
        cls = type(self.shell)
        for name, value in vars(self.shell).items():
            if name != "CustomTB" and self.own.get(name) is not value and callable(getattr(cls, name, None)):
                yield name


def _own_places(name: str, module: dict) -> Iterator[tuple[str, tuple]]:
    """The functions of one of our modules, and those of its classes and tables."""
    yield name, (module, {key: value for key, value in module.items() if callable(value)})
    for key, value in module.items():
        if isinstance(value, type) and value.__module__ == name:
            yield (
                f"{name}.{key}",
                (vars(value), {part: member for part, member in vars(value).items() if callable(member)}),
            )
    if name == objects.__name__:
        yield f"{name}.OPERATIONS", (objects.OPERATIONS, dict(objects.OPERATIONS))


def _is_own(function: object) -> bool:
    return type(function) is FunctionType and function.__module__ in OWN


def _is_watched(name: str, value: object) -> bool:
    return callable(value) and (not name.startswith("_") or name in ("__import__", "__build_class__"))


def _from_library(function: Callable) -> bool:
    """Whether a callback is a library's, such as that of ``%autoreload``."""
    owner = type(getattr(function, "__self__", None))
    name = getattr(function, "__module__", None) if owner is type(None) else owner.__module__
    path = getattr(sys.modules.get(name), "__file__", None) if isinstance(name, str) else None
    return path is not None and os.path.abspath(path).startswith(LIBRARIES)


LIBRARIES = tuple(f"{path}/" if os.path.isdir(path) else path for path in readable_by_default())
"""Folders that every candidate may read, without any student's code."""


class Monitor:
    """Notes what the student's code reaches for; one for each candidate, from its first moment on."""

    def __init__(self) -> None:
        self.opened: dict[str, None] = {}
        self.connections: dict[str, None] = {}
        self.processes: dict[str, None] = {}
        self.subclasses: dict[str, None] = {}
        self.scratch = os.path.realpath(os.getcwd())
        around = [os.path.dirname(self.scratch), os.path.dirname(os.path.dirname(self.scratch))]
        self.by_chance = [folder for folder in around if os.path.basename(folder).startswith("viva-")]
        """The folders around its own that have other names in each batch."""
        folders = (os.environ.get(name, self.scratch) for name in ("HOME", "MPLCONFIGDIR"))
        self.home = (*LIBRARIES, *OWN_PLACES, f"{self.scratch}/", *(f"{folder}/" for folder in folders))

    def hear(self, event: str, values: tuple) -> None:
        """The audit hook. It must not raise, as that would stop what the code does. Every import comes by here."""
        try:
            if event in EVENTS or event in STARTS or event.startswith("socket."):
                self._note(event, values)
        except Exception:
            return

    def _note(self, event: str, values: tuple) -> None:
        if event in EVENTS:
            path = self._outside(values[0]) if len(self.opened) < ENTRIES else ""
            if path and _by_student(SHELL if path.startswith(KERNEL) else READERS):
                self.opened[path] = None
        elif event in STARTS:
            if event not in self.processes and _by_student(STARTERS):
                self.processes[event] = None
        elif len(self.connections) < ENTRIES:
            address = _address(event, values)
            if address and _by_student(None):
                self.connections[address] = None

    def _outside(self, name: Any) -> str:
        """The path of a file that is neither the candidate's own nor a library's; else an empty string."""
        if type(name) not in (str, bytes):
            return ""
        path = os.path.abspath(os.fsdecode(name))
        if f"{path}/".startswith(self.home):
            return ""
        if any(f"{path}/".startswith(f"{folder}/") for folder in self.by_chance):
            path = os.path.relpath(path, self.scratch)
        return path[:CHARACTERS]

    def note_answer(self, value: object) -> None:
        """Remember an answer of a subclass of a plain type, which crosses as its base value."""
        cls = type(value)
        if cls in CODEC_OF or cls in PLAIN or len(self.subclasses) >= ENTRIES or codec_of(value) is None:
            return
        if cls.__module__ == "__main__" and not hasattr(cls, "_fields") and not issubclass(cls, enum.Enum):
            base = next(ancestor for ancestor in cls.__mro__[1:] if ancestor.__module__ != "__main__")
            self.subclasses[f"{cls.__name__}, a subclass of {base.__name__}"] = None

    def told(self, snapshot: Snapshot, candidate: object) -> dict[str, list[str]]:
        """All of it as plain data."""
        cls = type(candidate)
        patched = [f"{cls.__module__}.{cls.__name__}.{name}" for name in vars(candidate) if name in vars(cls)]
        observed = {"touched": [*snapshot.touched(), *patched], "hooks": snapshot.hooks(), "opened": self.opened}
        observed |= {"connections": self.connections, "processes": self.processes, "subclasses": self.subclasses}
        return {name: [str(text)[:CHARACTERS] for text in list(values)[:ENTRIES]] for name, values in observed.items()}


PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))


def _by_student(through: frozenset[str] | None) -> bool:
    """Whether a cell, or a module that was submitted, is what called; ``through`` are libraries that may lie between.

    What a library does while it is imported was not asked for.
    """
    frame: FrameType | None = sys._getframe(3)
    for _ in range(FRAMES):
        if frame is None:
            return False
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return False
        if not file.startswith(("<frozen", *LIBRARIES)):
            return True
        if through is not None and str(frame.f_globals.get("__name__")).partition(".")[0] not in through:
            return False
        frame = frame.f_back
    return False


def _address(event: str, values: tuple) -> str:
    """The address of a connection; empty for a socket between two ends of one process."""
    match event:
        case "socket.__new__":
            family = values[1] if len(values) > 1 else None
            return "" if family == socket.AF_UNIX else "a socket"
        case "socket.connect" | "socket.bind" | "socket.sendto":
            address = values[1]
            return (":".join(map(str, address[:2])) if isinstance(address, tuple) else str(address))[:CHARACTERS]
        case "socket.getaddrinfo" | "socket.gethostbyname":
            return str(values[0])[:CHARACTERS]
    return ""


# --- what is told, where nothing of a student's runs


QUOTED = 100
"""The most characters that are quoted."""
BASES = frozenset(
    "bool int float complex str bytes list tuple dict set frozenset bytearray ndarray DataFrame Series Index".split()
)


def facts(reply: object, causes: list[Note], sandboxed: bool) -> list[Note]:
    """The facts about a notebook: from a stranger's ``reply``, and from the ``causes`` of what its checks came to.

    None of it says more than that something was there; an honest notebook has none.
    """
    seen = list(dict.fromkeys(cause for cause in causes if cause.kind == "not_plain"))[:ENTRIES]
    observed = reply.get("facts") if isinstance(reply, dict) else None
    if not isinstance(observed, dict):
        return [Note("silent"), *seen]
    notes, strange = [], observed.keys() != READ.keys()
    for kind, read in READ.items():
        values = observed.get(kind)
        texts = values if isinstance(values, list) and len(values) <= ENTRIES else [None]
        readable = [read(text) if isinstance(text, str) else "" for text in texts]
        strange = strange or not all(readable)
        if shown := [text for text in dict.fromkeys(readable) if text]:
            notes.append(note(WITHOUT_SANDBOX.get(kind, kind) if not sandboxed else kind, *shown))
    if strange:
        notes.append(Note("strange"))
    return [*notes, *seen]


def _place(text: str) -> str:
    """The name of something in a library, in the shell or in the candidate itself; empty if there is no such thing."""
    from viva.engine.dialogue.shell import Shell

    around = {cls.__name__: cls for cls in Shell.__mro__[:3]}
    for name in (*WATCHED, *OWN, *around):
        if text == name:
            return text
        if text.startswith(f"{name}."):
            value: Any = around.get(name) or importlib.import_module(name)
            for part in text.removeprefix(f"{name}.").split("."):
                inside = value if type(value) is dict else getattr(value, "__dict__", {})
                value = inside.get(part)
            if value is not None:
                return text
    return ""


def _hook(text: str) -> str:
    from IPython.core.events import available_events

    from viva.engine.dialogue.shell import Shell

    names = {*HOOKS, "set_custom_exc", "user_ns", *(f"events ({event})" for event in available_events)}
    return text if text in names or (text.isidentifier() and callable(getattr(Shell, text, None))) else ""


def _path(text: str) -> str:
    return plaintext.quoted(text, QUOTED) if text.startswith(("/", "..")) and text.isprintable() else ""


def _told_address(text: str) -> str:
    return plaintext.quoted(text, QUOTED) if re.fullmatch(r"a socket|[\w.:%\[\]-]+", text) else ""


def _subclass(text: str) -> str:
    name, _, base = text.partition(", a subclass of ")
    return f"{name[:60]}, a subclass of {base}" if name.isidentifier() and base in BASES else ""


READ: dict[str, Callable[[str], str]] = {
    "touched": _place,
    "hooks": _hook,
    "opened": _path,
    "connections": _told_address,
    "processes": lambda text: text if text in STARTS else "",
    "subclasses": _subclass,
}
"""The function that reads a text of the monitor's, by kind of fact."""
WITHOUT_SANDBOX = {
    "opened": "opened_unsandboxed",
    "connections": "connections_unsandboxed",
    "processes": "processes_unsandboxed",
}
