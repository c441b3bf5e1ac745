"""A session of a kernel of any language: the notebook and its tests run in one process, in the sandbox.

Theory of operation. The kernel is a program of the machine's. It speaks Jupyter's messages over sockets in a folder
that it shares with the grader. Student code runs in it, and can read the key of its messages: so a message says nothing
that student code could not say, and the reader takes no more of it than a notebook can hold. Whoever drives a session
of candidate and examiner drives this one too (``grading.Run``): it asks it to run cells, and the tests run as cells.

A request has ended when the kernel replied to it. What it shows arrives on another socket, and is waited for until the
kernel says that it is idle.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
from jupyter_client.session import Session as Writer

from viva.engine.parent import Effort, effort_of
from viva.engine.session import GRACE, STRETCH, WATCH, Died, copy_data, time_taken
from viva.engine.timebudget import TimeBudget
from viva.folder import remove
from viva.notebook.programming import ASSERTED, RESTARTED
from viva.record import Note
from viva.sandbox.confinement import USUAL, Limits
from viva.sandbox.program import LINKS, Program
from viva.verdict import SandboxError, Verdict

STARTING = 60.0
"""Seconds in which a kernel must start."""
ASKED_AGAIN = 1.0
"""Seconds after which a kernel that starts is asked once more whether it is there."""
IDLE = 2.0
"""Seconds after its reply in which a kernel says that it is idle; student code can keep it from saying so."""
MESSAGE = 64 << 20
"""The most bytes of a message."""
ALL_BYTES, ITEMS = 16 << 20, 1000
"""The most bytes and items of a cell's outputs that are read."""
PYTHONS = {"python", *(f"python{'.'.join(map(str, sys.version_info[:parts]))}" for parts in (1, 2))}
"""The first word of a kernel's command that means the Python which starts it, as everywhere in Jupyter."""
SOCKETS = ("shell", "iopub", "stdin", "control", "hb")
MARK = b"<IDS|MSG>"
LONG = 90
"""A path of a socket may have no more characters than 107."""
CUT = {"output_type": "stream", "name": "stdout", "text": "\n[more output was cut here]\n"}


def kernel_of(name: str, language: str = "") -> KernelSpec:
    """The installed kernel of this name, else one for the language. Raises SandboxError where there is none."""
    manager = KernelSpecManager()
    with warnings.catch_warnings(action="ignore"):  # about fields of a kernel's file that Jupyter does not know
        try:
            return manager.get_kernel_spec(name)
        except NoSuchKernel as error:
            for other in sorted(manager.find_kernel_specs()):
                with contextlib.suppress(NoSuchKernel, ValueError):
                    if (spec := manager.get_kernel_spec(other)).language.lower() == language.lower():
                        return spec
            raise SandboxError(
                f"its kernel '{name}' is not installed on this machine. Install it, then try again. 'jupyter "
                "kernelspec list' lists the installed kernels"
            ) from error


class KernelSession:
    """One kernel that runs the cells and the tests of a submission; close it to end it and all that it started."""

    one_process = True

    def __init__(
        self,
        kernel: KernelSpec,
        folder: Path,
        data: Path | None,
        files: Path | None,
        time_budget: TimeBudget | None = None,
        limits: Limits = USUAL,
        readable: tuple[str, ...] = (),
        slot: int | None = None,
    ) -> None:
        """The kernel finds the files of ``data`` or, if given, of ``files`` in its home; ``folder`` is an empty one,
        which this session fills and removes.

        ``slot`` and ``readable`` as in Program; without a ``slot`` there is no sandbox. Raises SandboxError where no
        kernel starts.
        """
        self.time_budget = time_budget or TimeBudget()
        self.limit, self.interrupted, self.gone = 0.0, False, False
        self.begun: dict[str, bytes] = {}
        self.spec, self.killed = kernel, ""
        self.folder = folder
        self.links, self.scratch = self.folder / "links", self.folder / "data"
        for part in (self.links, self.scratch):
            part.mkdir(mode=0o700)
        self.folder.chmod(0o711)  # root's kernels, which are other users, pass through
        self.context, self.program, self.around = zmq.Context(), cast(Program | None, None), -1
        self.sockets: dict[str, zmq.Socket] = {}
        self.listens: dict[int, Callable[[], object]] = {}
        """What reads from other descriptors, while the kernel is waited for."""
        try:
            if chosen := files or data:
                copy_data(chosen, self.scratch, data)
            self._start(limits, readable, slot)
        except BaseException:
            self.close()
            raise

    def _start(self, limits: Limits, readable: tuple[str, ...], slot: int | None) -> None:
        key = os.urandom(16).hex()
        self.inside = inside = LINKS if slot is not None else str(self.links)
        """The folder of the sockets, as the kernel calls it."""
        connection: dict[str, Any] = {
            "transport": "ipc",
            "ip": f"{inside}/k",
            "key": key,
            "signature_scheme": "hmac-sha256",
        }
        connection |= {f"{name}_port": number for number, name in enumerate(SOCKETS, start=1)}
        connection |= {"kernel_name": self.spec.display_name}
        (self.links / "connection.json").write_text(json.dumps(connection))
        own = {"connection_file": f"{inside}/connection.json", "resource_dir": self.spec.resource_dir}
        words = [_filled(word, own) for word in self.spec.argv]
        if words[0] in PYTHONS:
            words[0] = sys.executable
        environment = {name: _filled(value, own) for name, value in (self.spec.env or {}).items()}
        self.messages = Writer(key=key.encode(), signature_scheme="hmac-sha256")
        place = str(self.links)
        if len(place) > LONG:
            self.around = os.open(place, os.O_PATH | os.O_DIRECTORY)
            place = f"/proc/self/fd/{self.around}"
        for number, name in enumerate(SOCKETS, start=1):
            if name in ("shell", "iopub", "control"):
                socket = self.sockets[name] = self.context.socket(zmq.SUB if name == "iopub" else zmq.DEALER)
                socket.setsockopt(zmq.LINGER, 0)
                socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE)
                socket.setsockopt(zmq.RECONNECT_IVL, 20)
                socket.setsockopt(zmq.RCVHWM, 100)
                if name == "iopub":
                    socket.setsockopt(zmq.SUBSCRIBE, b"")
                socket.connect(f"ipc://{place}/k-{number}")
        readable = (*readable, *([self.spec.resource_dir] if os.path.isdir(self.spec.resource_dir) else []))
        self.program = Program(words, self.links, self.scratch, environment, limits, readable, slot)
        self._await_start()

    def _await_start(self) -> None:
        """Wait until the kernel answers, and what it shows arrives. Raises SandboxError."""
        end = time.monotonic() + STARTING
        asked: list[str] = []
        answered = shown = False
        while not (answered and shown):
            if time.monotonic() > end or self._program.ended():
                why = self._program.complaint() or ("it ended" if self._program.ended() else "it does not answer")
                raise SandboxError(f"the kernel '{self.spec.display_name}' does not start: {why[:300]}")
            asked.append(self._send("kernel_info_request", {}))
            again = time.monotonic() + ASKED_AGAIN
            while time.monotonic() < again and not (answered and shown) and not self._program.ended():
                for name, kind, parent, _ in self._messages(0.1):
                    answered |= name == "shell" and kind == "kernel_info_reply" and parent in asked
                    shown |= name == "iopub" and parent in asked

    @property
    def _program(self) -> Program:
        assert self.program is not None
        return self.program

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.gone = True
        if self.program is not None:
            self.program.end()
            self.program = None
        for socket in self.sockets.values():
            socket.close()
        self.sockets.clear()
        self.context.term()
        if self.around >= 0:
            os.close(self.around)
            self.around = -1
        remove(self.folder)

    def examiner(self, within: float, **request: object) -> dict:
        """There is none: what it would be told means nothing where the tests run beside the answers."""
        return {"error": ""}

    def was_shot(self) -> bool:
        """End the kernel. Who ended it before, nobody can tell."""
        self.gone = True
        return False

    def status(self) -> None:
        """Nobody knows it: a kernel's process is bubblewrap's child."""

    def candidate(self, within: float, **request: object) -> dict:
        """What a cell came to: its outputs, what it raised, and its number. Raises Died, and Spent."""
        if request["do"] != "run":
            raise Died(Verdict.KILLED, Note("killed_kernel"))
        self.limit, self.interrupted = self.time_budget.granted(within), False
        counted = not request.get("aside")
        content = {"code": str(request["source"]), "silent": False, "store_history": counted, "user_expressions": {}}
        asked = self._send("execute_request", content | {"allow_stdin": False, "stop_on_error": False})
        outputs = Outputs()
        reply = self._wait(asked, outputs, self.limit)
        if reply is None:
            self._interrupt()
            reply = self._wait(asked, outputs, GRACE)
            if reply is None:
                self.gone = True
                raise Died(Verdict.TIMEOUT, Note("unfinished_code", amount=self.limit))
        raised = outputs.raised(reply)
        if (mark := RESTARTED.get(self.spec.language.lower())) and outputs.end().endswith(mark):
            self.gone = True
            raise Died(Verdict.KILLED, Note("killed_kernel"))
        asserted = any(ASSERTED.search(raised[part]) for part in ("name", "message")) if raised else False
        count = reply.get("execution_count")
        return {"outputs": outputs.items, "raised": raised, "count": count, "asserted": asserted}

    def _wait(self, asked: str, outputs: Outputs, seconds: float) -> dict | None:
        """The kernel's reply to a request; None where its time is over. Raises Died."""
        reply, idle, replied = None, False, 0.0
        start, before, took = time.monotonic(), self._efforts(), 0.0
        looked = start
        try:
            while reply is None or (not idle and time.monotonic() < replied + IDLE):
                for name, kind, parent, content in self._messages(0.05):
                    if parent != asked:
                        continue
                    if name == "shell" and kind == "execute_reply":
                        reply, replied = content, time.monotonic()
                    elif name == "iopub" and kind == "status":
                        idle |= content.get("execution_state") == "idle"
                    elif name == "iopub":
                        outputs.add(kind, content)
                if (now := time.monotonic()) > looked + WATCH:
                    looked = now
                    self._look(reply is not None)
                    passed = now - start
                    if passed > seconds:
                        took = max(time_taken(passed, before, self._efforts()), passed / STRETCH)
                        if took > seconds and reply is None:
                            self.interrupted = True
                            return None
            return reply
        finally:
            passed = time.monotonic() - start
            self.time_budget.spend(max(time_taken(passed, before, self._efforts()), passed / STRETCH))

    def _look(self, replied: bool) -> None:
        """Look whether the kernel is there, and takes no more than it may. Raises Died."""
        if why := self._program.overflows():
            self.gone = True
            raise Died(Verdict.KILLED, Note(why))
        if self._program.ended() and not replied:
            self.gone = True
            raise Died(Verdict.KILLED, Note("killed_kernel"))

    def _efforts(self) -> list[Effort]:
        return [Effort(pid, *effort_of(pid)) for pid in self._program.processes()] if self.program else []

    def _interrupt(self) -> None:
        self.interrupted = True
        if self.spec.interrupt_mode == "message":
            self._send("interrupt_request", {}, "control")
        else:
            self._program.interrupt()

    def _send(self, kind: str, content: dict, socket: str = "shell") -> str:
        """Send a message, and return its number."""
        message = self.messages.msg(kind, content)
        with contextlib.suppress(zmq.ZMQError):  # it is gone, which the next look tells
            self.sockets[socket].send_multipart(self.messages.serialize(message), zmq.NOBLOCK)
        return message["header"]["msg_id"]

    def _messages(self, seconds: float) -> list[tuple[str, str, str, dict]]:
        """The messages that come within some seconds: by socket, kind, number of the request, and content."""
        poller = zmq.Poller()
        for socket in self.sockets.values():
            poller.register(socket, zmq.POLLIN)
        for descriptor in self.listens:
            poller.register(descriptor, zmq.POLLIN)
        ready = dict(poller.poll(int(seconds * 1000)))
        found = []
        for name, socket in self.sockets.items():
            with contextlib.suppress(zmq.ZMQError):  # nothing more is there
                for _ in range(200 if socket in ready else 0):
                    if message := _read(socket.recv_multipart(zmq.NOBLOCK)):
                        found.append((name, *message))
        for descriptor, read in self.listens.items():
            if descriptor in ready:
                read()
        return found


def _read(frames: list[bytes]) -> tuple[str, str, dict] | None:
    """The kind of a message, the request that it is about, and its content; None where it is none."""
    if MARK not in frames or len(frames) < (start := frames.index(MARK) + 2) + 4:
        return None
    try:
        header, parent, _, content = map(json.loads, frames[start : start + 4])
    except (ValueError, RecursionError):
        return None
    if not (isinstance(header, dict) and isinstance(parent, dict) and isinstance(content, dict)):
        return None
    return str(header.get("msg_type")), str(parent.get("msg_id")), content


def _filled(word: str, own: dict[str, str]) -> str:
    """A word of a kernel's command with the places that it names."""
    for name, value in own.items():
        word = word.replace(f"{{{name}}}", value)
    return word


class Outputs:
    """The outputs of a cell, as far as they are kept."""

    def __init__(self) -> None:
        self.shown: list[dict] = []
        self.texts: dict[int, list[str]] = {}
        """The parts of the text of a stream, by its place in ``shown``."""
        self.room = ALL_BYTES
        self.error: dict | None = None

    def add(self, kind: str, content: dict) -> None:
        """Take in what a message shows."""
        if kind == "clear_output":
            self.shown.clear()
            self.texts.clear()
        if kind not in ("stream", "display_data", "execute_result", "error"):
            return
        if kind == "error":
            self.error = content
        item, size = {"output_type": kind} | content, len(json.dumps(content))
        if size > self.room or len(self.shown) >= ITEMS:
            if self.shown[-1:] == [CUT]:
                return
            if kind == "stream":
                self.shown.append(item | {"text": _text(content.get("text"))[: max(0, self.room // 2)]})
            self.shown.append(CUT)
            self.room = 0
            return
        self.room -= size
        if kind != "stream":
            self.shown.append(item)
            return
        last = self.shown[-1] if len(self.shown) - 1 in self.texts else {}
        if not last or last.get("name") != content.get("name"):
            self.texts[len(self.shown)] = []
            self.shown.append(item)
        self.texts[len(self.shown) - 1].append(_text(content.get("text")))

    @property
    def items(self) -> list[dict]:
        """The outputs; what was written to a stream bit by bit is one."""
        for place, parts in self.texts.items():
            self.shown[place]["text"] = "".join(parts)
        return self.shown

    def end(self) -> str:
        """The text that was shown last."""
        texts = [item["text"] for item in self.items if isinstance(item.get("text"), str)]
        return texts[-1] if texts else ""

    def raised(self, reply: dict) -> dict | None:
        """The error that ended the cell, by the reply or by what was shown; None where none did."""
        error = self.error or (reply if reply.get("status") != "ok" else None)
        if error is None:
            return None
        name, message = (_text(error.get(field)) for field in ("ename", "evalue"))
        trace = error.get("traceback")
        lines = [_text(line) for line in trace] if isinstance(trace, list) else []
        return {"name": name, "message": message, "traceback": "\n".join(lines), "attributes": {}}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
