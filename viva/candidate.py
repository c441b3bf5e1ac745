"""Inside the wall: a process that runs a student's notebook and answers questions about it.

Theory of operation. The process is a fork of a warm parent and has walled itself in before it comes
here. It holds an IPython shell. On descriptor 3 it reads requests, on descriptor 4 it writes
answers, both as frames of the wire; descriptors 1 and 2 are files that catch what C code prints.
It is asked to run cells, for which it returns notebook outputs, and, between the cells, to do one
operation on its objects: look up a name, call a function, get an item. What cannot cross by value
stays here, in a table; the other side gets its number.

Nothing here has to be trusted: the student's code shares this interpreter and may have changed any
of it. The other side reads every answer as bytes from a stranger. No hidden test is ever sent here.
"""

from __future__ import annotations

import base64
import builtins
import copy
import importlib
import inspect
import io
import operator
import os
import signal
import sys
import types
import warnings

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from viva import raised, wire
from viva.raised import safe
from viva.randomness import get_state, set_state
from viva.verdict import WireError

REQUEST, ANSWER = 3, 4
WARNINGS = 20
"""So many warnings of one operation are told."""
OUTPUT_CHARACTERS, OUTPUT_ITEMS = 1_000_000, 1_000
"""A cell keeps so much output; the rest is dropped, and a line says so."""

THROW_AWAY_PLOT = r"""
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2, figsize=(2, 1), layout="constrained")
picture = axes[0].imshow([[0.0, 1.0]], cmap="viridis")
figure.colorbar(picture, ax=axes[0])
axes[0].set(title="title", xlabel=r"$x_1^{2} = \frac{1}{2} \mathbf{K}^\top Q$", ylabel="y", xticks=[0, 1])
axes[0].text(0, 0, "0.50", color="w", ha="center")
axes[1].plot([1, 2], [1e-3, 5], "o-", label=r"$\alpha$")
axes[1].bar([1, 2], [1, 2])
axes[1].legend()
figure.suptitle("all", fontweight="bold")
plt.show()
"""
"""Finds the fonts, loads the parser of formulas and fills the caches that every first plot pays for."""


class Outputs:
    """The outputs of one cell, as dictionaries in the form of a notebook's outputs."""

    def __init__(self, characters: int = OUTPUT_CHARACTERS) -> None:
        self.items: list[dict] = []
        self.left = characters
        self.clearing = False
        """Whether the next output is to replace all before it."""

    def text(self, name: str, text: str) -> None:
        if self.left <= 0:
            return
        if len(text) > self.left:
            text = text[: self.left] + "\n[more output was dropped here]\n"
            self.left = 0
        self.left -= len(text)
        last = self.items[-1] if self.items and not self.clearing else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self.add({"output_type": "stream", "name": name, "text": [text]})

    def add(self, item: dict) -> None:
        if self.clearing:
            self.clear()
        if len(self.items) < OUTPUT_ITEMS:
            self.items.append(item)

    def clear(self, wait: bool = False) -> None:
        self.clearing = wait
        if not wait:
            self.items.clear()

    def finished(self) -> list[dict]:
        return [item | {"text": "".join(item["text"])} if "text" in item else item for item in self.items]

    def printed(self) -> list[tuple[str, str]]:
        """What was written to which stream."""
        return [(item["name"], item["text"]) for item in self.finished() if "text" in item]


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the student's code."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.name = name
        self.descriptor = {"stdout": 1, "stderr": 2}[name]

    def write(self, text: str) -> int:
        Shell.outputs.text(self.name, str(text))
        return len(text)

    def fileno(self) -> int:
        return self.descriptor

    def writable(self) -> bool:
        return True


class Publisher(DisplayPublisher):
    """What display() shows."""

    def publish(self, data, metadata=None, *, transient=None, update=False, **_) -> None:
        item = {"output_type": "display_data", "data": _mime(data), "metadata": dict(metadata or {})}
        identity = (transient or {}).get("display_id")
        if update:
            for shown in Shell.displays.get(identity, ()):
                shown |= {"data": item["data"], "metadata": item["metadata"]}
            return
        if identity is not None:
            Shell.displays.setdefault(identity, []).append(item)
        Shell.outputs.add(item)

    def clear_output(self, wait: bool = False) -> None:
        Shell.outputs.clear(wait)


class Hook(DisplayHook):
    """The value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        Shell.outputs.add(
            {
                "output_type": "execute_result",
                "data": _mime(format_dict),
                "metadata": dict(md_dict or {}),
                "execution_count": self.prompt_count,
            }
        )

    def finish_displayhook(self) -> None:
        pass


class Shell(InteractiveShell):
    """An IPython shell without history, threads or terminal."""

    outputs = Outputs()
    displays: dict = {}

    def init_displayhook(self) -> None:
        self.displayhook_class = Hook
        super().init_displayhook()

    def init_display_pub(self) -> None:
        self.display_pub_class = Publisher
        super().init_display_pub()

    def _showtraceback(self, etype, evalue, stb) -> None:
        Shell.outputs.add(
            {
                "output_type": "error",
                "ename": etype.__name__,
                "evalue": safe(str, evalue),
                "traceback": stb if isinstance(stb, list) else [str(stb)],
            }
        )

    def system(self, command: str) -> None:
        print(f"Commands such as !{command.split()[0] if command.split() else ''} are not run while grading.")

    system_raw = system_piped = system

    def enable_gui(self, gui=None) -> None:
        """``%matplotlib inline`` asks for this; there is no window to draw in."""

    def getoutput(self, command: str, split: bool = True, depth: int = 0):
        self.system(command)
        return [] if split else ""


def make_shell() -> Shell:
    """The shell, warmed up: made once in the warm parent, before any fork."""
    # A history has a thread, which would not survive the fork.
    shell = Shell.instance(config=Config(HistoryManager={"enabled": False, "hist_file": ":memory:"}))
    shell.colors = "nocolor"
    shell.set_hook("show_in_pager", lambda *_, **__: None)  # what `len?` shows is no output of a notebook
    for source in ("%matplotlib inline", THROW_AWAY_PLOT, "1 / 0"):
        shell.run_cell(source)
    shell.reset(new_session=True)
    shell.execution_count = 1
    Shell.outputs, Shell.displays = Outputs(), {}
    return shell


class Candidate:
    """Answers requests until the other side closes the pipe."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.objects: list[object] = []
        self.numbers: dict[int, int] = {}
        """By id(), the place of an object in ``objects``, which keeps it alive."""
        self.known_state: tuple = ()
        """The random state, as the other side knows it."""

    def serve(self) -> None:
        sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        while True:
            try:
                self.do(self.listen())
            except EOFError:
                os._exit(0)
            except KeyboardInterrupt:  # it came when the work was done already
                continue
            except Exception as error:
                self.answer({"refused": f"{type(error).__name__}: {error}"})

    def do(self, request: dict) -> None:
        self.answer(getattr(self, "do_" + request.pop("do"))(**request))

    def listen(self) -> dict:
        """The next message. An interrupt waits until all of it is here: half a message would spoil the next one."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return wire.decode(wire.read(REQUEST), self.resolve)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def answer(self, reply: dict) -> None:
        try:
            data = wire.encode(reply, self.refer)
        except (WireError, Exception) as error:
            data = wire.encode({"refused": f"{type(error).__name__}: {safe(str, error)}"[:500]})
        wire.write(ANSWER, data)

    # requests

    def do_run(self, source: str) -> dict:
        """Run one cell and return its outputs."""
        Shell.outputs = outputs = Outputs()
        error = None
        try:
            result = self.shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as escaped:
            error = escaped
            self.shell.showtraceback()
        self._flush(outputs)
        told = None if error is None else raised.told(error, self.number)
        return {"outputs": outputs.finished(), "raised": told, "count": self.shell.execution_count - 1}

    def do_operate(self, operation: str, args: tuple, kwargs: dict, **state: object) -> dict:
        """Do one operation and return its result, what it printed and what it changed in place.

        For ``state`` see _take_state.
        """
        self._take_state(**state)
        around, Shell.outputs = Shell.outputs, Outputs(64_000)
        outputs = Shell.outputs
        places = {**dict(enumerate(args)), **kwargs}
        before = {place: self._encoded(value) for place, value in places.items()}
        reply = {}
        with warnings.catch_warnings(record=True) as caught:
            try:
                reply["value"] = OPERATIONS[operation](self, *args, **kwargs)
            except BaseException as error:
                reply["raised"] = raised.told(error, self.number)
        self._flush(outputs)
        Shell.outputs = around
        after = {place: self._encoded(value) for place, value in places.items()}
        if changed := {place: after[place] for place in places if after[place] and after[place] != before[place]}:
            reply["changed"] = changed
        for place, value in places.items():
            if after[place] and reply.get("value") is value:
                reply["same"] = place
        if printed := outputs.printed():
            reply["printed"] = printed
        if caught:
            reply["warned"] = [self._warning(warning) for warning in caught[:WARNINGS]]
        return self._with_state(reply)

    def _take_state(
        self, random_state: tuple | None = None, errors: dict | None = None, rebound: dict | None = None
    ) -> None:
        """Take over what is one in a single process: random numbers, NumPy's error handling, names of the test's."""
        if random_state is not None:
            set_state(random_state)
        self.known_state = get_state()
        if errors is not None:
            np.seterr(**errors)
        self.shell.user_ns.update(rebound or {})

    def _with_state(self, message: dict) -> dict:
        if (state := get_state()) != self.known_state:
            message["random_state"] = self.known_state = state
        return message

    def _warning(self, warning: warnings.WarningMessage) -> tuple:
        lineage = raised.lineage(warning.category, self.number)
        return lineage, safe(str, warning.message)[:2000], str(warning.filename), int(warning.lineno)

    def do_bind(self, names: dict) -> dict:
        self.shell.user_ns.update(names)
        return {}

    def do_unbind(self, name: str) -> dict:
        self.shell.user_ns.pop(name, None)
        return {}

    def do_digest(self, names: list[str]) -> dict:
        """The encoded values of names, and the names of those that cannot be encoded or are not bound."""
        found = {}
        for name in names:
            if name in self.shell.user_ns:
                try:
                    found[name] = wire.encode(self.shell.user_ns[name])
                except WireError:
                    found[name] = None
        return {"digests": found}

    def do_kinds(self) -> dict:
        """Of every name that the notebook has bound: whether it is plain, and which module's property it is."""
        hidden = self.shell.user_ns_hidden
        names = {name: value for name, value in self.shell.user_ns.items() if name not in hidden and name[0] != "_"}
        return {"kinds": {name: "plain" if wire.is_plain(value) else origin(value) for name, value in names.items()}}

    def do_random(self) -> dict:
        return {"random_state": get_state()}

    # objects that stay here

    def number(self, value: object) -> int:
        """The place of an object in the table; the same object has the same one."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.numbers[id(value)]

    def refer(self, value: object) -> wire.Reference:
        if type(value) is Callback:
            return wire.Reference(value.number, {"of": "examiner"})
        kind, is_class = type(value), isinstance(value, type)
        about = {
            "of": "candidate",
            "type": kind.__name__,
            "mro": _mro(kind),
            "class": is_class,
            "callable": callable(value),
            "iterator": hasattr(kind, "__next__"),
            "name": getattr(value, "__name__", "") if isinstance(value, type | types.FunctionType) else "",
            "origin": origin(value),
        }
        if is_class and issubclass(value, BaseException):
            about["lineage"] = raised.lineage(value, self.number)
        elif isinstance(value, BaseException):
            about["exception"] = raised.told(value, self.number)
        elif (contents := _contents(value)) is not None and wire.is_plain(contents):
            about["contents"] = contents
        return wire.Reference(self.number(value), about)

    def resolve(self, reference: wire.Reference) -> object:
        if reference.about["of"] == "candidate":
            return self.objects[reference.id]
        if reference.about["of"] == "library":
            value = importlib.import_module(reference.about["module"])
            for part in reference.about["qualname"].split("."):
                value = getattr(value, part)
            return value
        return Callback(self, reference.id, reference.about["name"])

    def _encoded(self, value: object) -> bytes:
        """A message with the value of an argument, empty if it cannot change or cannot cross."""
        if type(value) in (int, float, bool, str, bytes, types.NoneType, types.FunctionType):
            return b""
        try:
            return wire.encode(value, self.refer)
        except Exception:
            return b""

    def _flush(self, outputs: Outputs) -> None:
        """Add what was written to descriptors 1 and 2 directly, and reset them."""
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            try:
                os.lseek(descriptor, 0, os.SEEK_SET)
                data = os.read(descriptor, OUTPUT_CHARACTERS)
                if data:
                    os.lseek(descriptor, 0, os.SEEK_SET)
                    os.ftruncate(descriptor, 0)
                    outputs.text(name, data.decode("utf-8", "replace"))
            except OSError:
                continue


class Callback:
    """A function of the other side that was passed to the student's code."""

    __slots__ = ("__name__", "candidate", "number")

    def __init__(self, candidate: Candidate, number: int, name: str) -> None:
        self.candidate, self.number, self.__name__ = candidate, number, name

    def __call__(self, /, *args, **kwargs):
        candidate = self.candidate
        candidate.answer(candidate._with_state({"callback": self.number, "args": args, "kwargs": kwargs}))
        # The function may ask in its turn before it returns.
        while "do" in (reply := candidate.listen()):
            candidate.do(reply)
        candidate._take_state(reply.get("random_state"))
        if "raised" in reply:
            raise raised.again(reply["raised"], candidate.objects)
        return reply["value"]


def _lookup(candidate: Candidate, name: str):
    try:
        return candidate.shell.user_ns[name]
    except KeyError:
        raise NameError(f"name '{name}' is not defined") from None


def _names(candidate: Candidate) -> list[str]:
    shell = candidate.shell
    return [name for name in shell.user_ns if name not in shell.user_ns_hidden and name[0] != "_"]


def _contents(value) -> tuple | list | None:
    """What is in an array of objects or a view of a dict; None for anything else."""
    if type(value) is np.ndarray:
        return value.shape, value.ravel().tolist()
    return list(value) if type(value) in VIEWS else None


def _signature(value) -> tuple:
    """What an inspect.Signature can be made of: a row for each parameter, and the annotation of the result."""
    signature = inspect.signature(value)
    rows = [
        (one.name, int(one.kind), _written(one.default), _written(one.annotation))
        for one in signature.parameters.values()
    ]
    return rows, _written(signature.return_annotation)


def _written(value) -> tuple[str, object]:
    """A default or an annotation: by value, as the place of a library's class, or as text."""
    if value is inspect.Parameter.empty:
        return "empty", None
    if wire.is_plain(value):
        return "plain", value
    return ("class", origin(value)) if isinstance(value, type) and origin(value) else ("text", safe(repr, value)[:200])


def _leave(candidate: Candidate, manager, error: dict | None) -> bool:
    if error is None:
        return bool(manager.__exit__(None, None, None))
    again = raised.again(error, candidate.objects)
    return bool(manager.__exit__(type(again), again, again.__traceback__))


def _forward(function):
    return lambda candidate, *args: function(*args)


OPERATIONS = {
    "name": _lookup,
    "names": _names,
    "call": lambda candidate, function, /, *args, **kwargs: function(*args, **kwargs),
    "enter": lambda candidate, manager: manager.__enter__(),
    "leave": _leave,
    **{name: _forward(f) for name, f in (("signature", _signature), ("document", inspect.getdoc), ("type", type))},
    **{name: _forward(f) for name, f in (("copy", copy.copy), ("deepcopy", copy.deepcopy), ("hash", hash))},
    **{f.__name__: _forward(f) for f in (getattr, setattr, delattr, len, iter, next, repr, str, bool, dir)},
    **{f.__name__: _forward(f) for f in (int, float, complex, abs, round, reversed, format, divmod)},
    **{f.__name__: _forward(f) for f in (isinstance, issubclass)},
    **{
        name: _forward(getattr(operator, name))
        for name in (
            "getitem setitem delitem contains index eq ne lt le gt ge neg pos invert "
            "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift "
            "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"
        ).split()
    },
}


VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


def origin(value: object) -> str:
    """``module:qualname`` of a library's module, function or class, or a class of Python's; else an empty string."""
    if isinstance(value, types.ModuleType):
        return f"{value.__name__}:"
    if isinstance(value, type) and vars(builtins).get(type.__dict__["__name__"].__get__(value)) is value:
        return f"builtins:{value.__name__}"
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if isinstance(module, str) and isinstance(name, str) and module not in ("__main__", "builtins"):
        found = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return f"{module}:{name}"
    return ""


def _mime(data: dict) -> dict:
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in data.items()}


def _mro(kind: type) -> list[tuple[str, str]]:
    return [(str(base.__module__), str(base.__qualname__)) for base in type.mro(kind)][:20]
