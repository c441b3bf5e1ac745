"""The candidate: a process that runs a student's notebook and answers questions about it.

Theory of operation. The process is a fork of a fork server and is in its sandbox before it comes
here. It holds an IPython shell. On descriptor 3 it reads requests, on descriptor 4 it writes
answers, both as frames of the wire; descriptors 1 and 2 are files that catch what C code prints.
It is asked to run cells, for which it returns notebook outputs, and, between the cells, to do one
operation on its objects: look up a name, call a function, get an item. What cannot cross by value
stays here, in a table; the other side gets its number.

Nothing here has to be trusted: the student's code shares this interpreter and may have changed any
of it. The other side reads every answer as bytes from a stranger. No hidden test is ever sent here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np

from viva.engine import pipe, wire
from viva.engine.dialogue import exceptions
from viva.engine.dialogue.arguments import Handed, parts_of, places_in
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.integrity import Monitor, Snapshot
from viva.engine.dialogue.objects import OPERATIONS, Objects, origin, told_signature, told_source
from viva.engine.dialogue.shell import Outputs, Shell, Stream
from viva.engine.values.codec import module_of
from viva.engine.values.randomness import SEEDS, Common, get_state, number_of
from viva.engine.values.sharing import NEWS, seed
from viva.folder import state
from viva.verdict import WireError

REQUEST, ANSWER = 3, 4
WARNINGS = 20
"""The most warnings of one operation that are told."""
TELLING = frozenset({"operate", "random"})
"""Requests of the examiner's that are answered with news of what both sides share."""
UNASKED = 65_536
"""The most bytes of a value that was not asked for."""


class Candidate:
    """Answers requests until the other side closes the pipe."""

    def __init__(self, shell: Shell, snapshot: Snapshot) -> None:
        self.shell, self.snapshot = shell, snapshot
        self.monitor, self.folder = Monitor(), os.getcwd()
        self.objects = Objects(self.call_back)
        self.handed: Handed | None = None
        """The arguments of the operation that is under way."""
        self.defined: dict[str, object] = {}
        """The definitions of test cells for the cells below them."""
        self.unbound: dict[str, object] = {}
        """The names that a test has deleted, and what they meant."""
        self.telling = ""
        """The request of the examiner's that is being answered, where news are told with it."""
        self.asked = False
        """Whether the other side has asked and waits: then its functions can be called."""
        self.turn = threading.Lock()
        """Held by the thread that speaks with the other side, but not while it runs a student's code."""
        self.random = Common()
        self.yielded: tuple[object, list] = (None, [])
        """The iterator that was asked last for its next value, and the changeable parts of that value."""
        self.named: dict[str, object] = {}
        """The values of the names that the other side has asked for since the last cell ran."""

    def serve(self) -> None:
        sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.addaudithook(self.monitor.hear)
        self.turn.acquire()
        while True:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self.do(wire.decode(pipe.read(REQUEST), self.objects.resolve, interned=True), last=True)
            except EOFError:
                os._exit(0)
            except (Exception, KeyboardInterrupt) as error:
                self.answer({"refused": f"{type(error).__name__}: {error}"})

    def do(self, request: dict, last: bool = False) -> None:
        """Do what was asked for, and answer; after the ``last`` answer no function of the other side's can be called.

        Meanwhile any thread may speak, as the other side waits.
        """
        if (do := request.pop("do")) == "news":  # is not answered
            with contextlib.suppress(Exception):  # what a student has made of a class of the library's, say
                self.objects.shared.take(request["news"])
            return
        before, self.objects.by_name = self.objects.by_name, request.pop("by_name", False)
        self.telling = do if do in TELLING else ""
        self.turn.release()
        try:
            reply = getattr(self, "do_" + do)(**request)
        finally:
            self.turn.acquire()
        self.answer(reply)
        self.asked = self.asked and not last
        self.objects.by_name = before

    def answer(self, reply: dict) -> None:
        news = b""
        try:
            data = wire.encode(reply, self.objects.refer, self.objects.liken)
            news = self._news() if self.telling else b""
        except Exception as error:
            data = wire.encode({"refused": f"{type(error).__name__}: {safe(str, error)}"[:500]})
        if news:
            pipe.write(ANSWER, news)
        pipe.write(ANSWER, data)

    def _news(self) -> bytes:
        """The frame that tells the examiner what is new of what both sides share. Raises WireError if it is too large:
        the examiner would go on with the weights of before."""
        try:
            news = self.objects.shared.news(self.telling == "random")
        except WireError:
            raise
        except Exception:  # what a student made of a module, say: then the examiner knows nothing of it
            return b""
        return NEWS + wire.encode(news) if news else b""

    # requests

    def do_run(self, source: str, begun: bool = False, asked: bool = False) -> dict:
        """Run one cell and return its outputs, and the state of the random numbers when it had ``begun``.

        Where the other side ``asked`` for it and waits, the cell can call its functions, and nobody sees the outputs.
        """
        self.named.clear()
        state = {}
        with contextlib.suppress(Exception):  # whatever student code has made of the generators
            state = self._random_state() if begun else {}
        Shell.outputs = outputs = Outputs()
        error, self.asked = None, asked
        signal.sigtimedwait({signal.SIGINT}, 0)  # one that was held back is dropped
        try:
            with interruptible():
                result = self.shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as escaped:
            error = escaped
            self.shell.showtraceback()
        outputs.add_written()
        raised = None if error is None else exceptions.told(error, self.objects.number)
        shown = [] if asked else outputs.finished()
        return {"outputs": shown, "raised": raised, "count": self.shell.execution_count - 1, **state}

    def _random_state(self) -> dict:
        """The state of all random numbers, which counts as untold."""
        state = {"random_state": get_state(), "seeds": dict(SEEDS), "shared": self.objects.shared.random_states()}
        return {"begun": wire.encode(state)}

    def do_operate(
        self,
        operation: str,
        args: tuple,
        kwargs: dict,
        first: bool = False,
        errstate: dict[str, Any] | None = None,
        **state: Any,
    ) -> dict:
        """Do one operation and return its result, what it printed and what its arguments have become.

        An interrupt that came before the ``first`` operation of a check was meant for the check before. ``errstate`` is
        what the test has NumPy do about floating-point errors. For ``state`` see take_state.
        """
        if first:
            signal.sigtimedwait({signal.SIGINT}, 0)
        self.take_state(**state)
        self.asked = True
        around, Shell.outputs = (Shell.outputs, self.handed), Outputs(64_000)
        outputs = Shell.outputs
        self.handed = handed = Handed([*args, *kwargs.values()], self.objects.refer, self.objects.numbers)
        questions: dict[str, Callable] = {"tell": self._tell, "names": self._names}
        questions |= {"source": told_source, "signature": told_signature}
        reply: dict[str, Any] = {}
        with warnings.catch_warnings(record=True) as caught:
            try:
                with np.errstate(**errstate) if errstate else contextlib.nullcontext(), interruptible():
                    reply["value"] = (questions.get(operation) or OPERATIONS[operation])(*args, **kwargs)
            except BaseException as error:
                reply["raised"] = exceptions.told(error, self.objects.number)
        outputs.add_written()
        Shell.outputs, self.handed = around
        with contextlib.suppress(Exception):
            self.monitor.note_answer(reply.get("value"))
        reply |= handed.news(reply.get("value"))
        if operation == "next":
            with contextlib.suppress(Exception):  # what a student made of a class, say
                reply |= self._again(args[0], reply.get("value"))
        if printed := outputs.printed():
            reply["printed"] = printed
        if caught:
            reply["warned"] = [self._warning(warning) for warning in caught[:WARNINGS]]
        return self.with_state(reply)

    def _again(self, iterator: object, value: object) -> dict:
        """Which parts of an iterator's ``value`` are parts of the one before, as where it fills one list anew."""
        last, before = self.yielded
        parts = parts_of([value], self.objects.numbers)
        self.yielded = iterator, parts
        places = places_in(before if last is iterator else [], parts)
        return {"again": places} if any(place is not None for place in places) else {}

    def _tell(self, name: str, wanted: str) -> bytes:
        """A message with a row for each name: what it means. Of the ``wanted`` names only the small bound ones.

        Raises NameError.
        """
        space = self.shell.user_ns
        if name not in space:
            raise NameError(f"name '{name}' is not defined")
        values = {name: space[name]}
        for label in wanted.split():
            with contextlib.suppress(Exception):
                if _room(value := space[label], UNASKED) >= 0:
                    values[label] = value
        rows: list[tuple[str, bytes | str]] = []
        for label, value in values.items():
            try:
                rows.append((label, wire.encode(value, self.objects.refer, self.objects.liken)))
                self.named[label] = value
                self.monitor.note_answer(value)
            except Exception as error:
                if label == name:
                    rows.append((name, f"{type(error).__name__}: {safe(str, error)}"[:500]))
        return wire.encode(rows)

    def _names(self) -> list[str]:
        hidden = self.shell.user_ns_hidden
        return [name for name in self.shell.user_ns if name not in hidden and name[0] != "_"]

    def call_back(self, number: int, name: str, args: tuple, kwargs: dict) -> object:
        """The result of a function of the other side's, asked for in the middle of an answer to it."""
        with self.turn:
            if not self.asked:
                raise RuntimeError(
                    f"{name}() is a function of a test cell, and can be called only while that cell runs"
                )
            return self._called_back(number, args, kwargs)

    def _called_back(self, number: int, args: tuple, kwargs: dict) -> object:
        with interruptible(False):
            message = {"callback": number, "args": args, "kwargs": kwargs}
            if self.handed and (numbers := self.handed.hand_over([*args, *kwargs.values()])):
                message["parts"] = numbers
            self.telling = "operate"
            self.answer(self.with_state(message))
            # The function may ask in its turn before it returns.
            while "do" in (reply := wire.decode(pipe.read(REQUEST), self.objects.resolve, interned=True)):
                self.do(reply)
            self.take_state(reply.get("random_state"))
        if "raised" in reply:
            raise exceptions.again(reply["raised"], self.objects.kept)
        return reply["value"]

    def take_state(self, random_state: tuple | None = None, rebound: dict | None = None) -> None:
        """Take over what is one in a single process: random numbers, and names of the test's."""
        if random_state is not None:
            self.random.take(random_state)
        self.shell.user_ns.update(rebound or {})

    def with_state(self, message: dict) -> dict:
        """Add what the other side does not know yet: other random numbers, names that mean something else now."""
        self.random.tell(message)
        space = self.shell.user_ns
        if rebound := [name for name, value in self.named.items() if space.get(name) is not value]:
            message["rebound"] = rebound
            for name in rebound:
                del self.named[name]
        return message

    def _warning(self, warning: warnings.WarningMessage) -> tuple:
        lineage = exceptions.lineage(warning.category, self.objects.number)
        return lineage, safe(str, warning.message)[:2000], str(warning.filename), int(warning.lineno)

    def do_bind(self, names: dict, random_state: tuple | None = None, shuffled: bool = False) -> dict:
        self.take_state(random_state)
        if shuffled and random_state:
            seed(number_of(random_state))
        self.named.clear()
        self.shell.user_ns.update(names)
        return {}

    def do_define(self, sources: list[str]) -> dict:
        """Have what a test cell defines for the cells below it, as far as that works here."""
        self.named.clear()
        self.asked = False
        space = self.shell.user_ns
        for source in sources:
            before = dict(space)
            with contextlib.suppress(BaseException), interruptible():
                exec(compile(source, "<test>", "exec"), space)
            self.defined |= {name: space[name] for name in space if space[name] is not before.get(name)}
        return {}

    def do_unbind(self, name: str) -> dict:
        self.named.pop(name, None)
        if name in self.shell.user_ns:
            self.unbound[name] = self.shell.user_ns.pop(name)
        return {}

    def do_restore(self, name: str) -> dict:
        """Bind a name again that was unbound, to what it meant."""
        if name in self.unbound:
            self.shell.user_ns[name] = self.unbound.pop(name)
        return {}

    def do_digest(self, names: list[str]) -> dict:
        """The hashes of the encoded values of names, None where one cannot be encoded, and the state of the files."""
        digests: dict[str, bytes | None] = dict.fromkeys(name for name in names if name in self.shell.user_ns)
        for name in digests:
            with contextlib.suppress(WireError):
                digests[name] = sha256(wire.encode(self.shell.user_ns[name])).digest()
        return {"digests": digests, "files": state(self.folder)}

    def do_kinds(self) -> dict:
        """The kind of every name that the notebook has bound: plain, or the library's name for it."""
        space = self.shell.user_ns
        names = [name for name in self._names() if self.defined.get(name, self) is not space[name]]
        return {"kinds": {name: "plain" if wire.is_plain(space[name]) else origin(space[name]) for name in names}}

    def do_random(self) -> dict:
        self.random.known = ()
        reply: dict[str, Any] = {}
        self.random.tell(reply)
        return reply

    def do_facts(self) -> dict:
        """The facts about what the notebook did to this process."""
        return {"facts": self.monitor.told(self.snapshot, self)}


def _room(value: object, room: int) -> int:
    """The rest of ``room`` bytes beside a value, roughly; negative if there is not enough."""
    if isinstance(value, np.ndarray):
        return room - value.nbytes
    if isinstance(value, str | bytes | bytearray):
        return room - len(value)
    if isinstance(value, list | tuple | set | frozenset | dict):
        room -= 100
        for item in value.values() if isinstance(value, dict) else value:
            if (room := _room(item, room)) < 0:
                break
        return room
    return -1 if module_of(type(value)).startswith("pandas") else room - 10


# An interrupt says that the time is over, and is let through only while student code runs. Between a question and its
# answer it would leave half a message, or an answer that nobody waits for.


@contextlib.contextmanager
def interruptible(allowed: bool = True):
    """Let interrupts through for a while and hold them back afterwards; the other way round if not ``allowed``."""
    inside, afterwards = (signal.SIG_UNBLOCK, signal.SIG_BLOCK) if allowed else (signal.SIG_BLOCK, signal.SIG_UNBLOCK)
    try:
        signal.pthread_sigmask(inside, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(afterwards, {signal.SIGINT})
