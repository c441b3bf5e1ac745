"""Puts the examiner's questions to the candidate, and reads the answers before test code sees them."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from viva.cleaning import plaintext
from viva.engine import pipe, wire
from viva.engine.dialogue import calledback
from viva.engine.dialogue.changes import take_changed
from viva.engine.dialogue.decided import decided
from viva.engine.dialogue.doubt import doubting, kept_in
from viva.engine.dialogue.exceptions import Raised, left_generator, safe
from viva.engine.dialogue.kinds import COMPUTED, HANDED, STOPS, Kinds, shortened
from viva.engine.dialogue.misfit import Misfit
from viva.engine.dialogue.parts import holds_arrays
from viva.engine.dialogue.references import References
from viva.engine.dialogue.sharedvalues import OF_SOLUTION, Shared
from viva.engine.dialogue.standin import can_be_called, is_class, method_of
from viva.engine.dialogue.told import Told
from viva.engine.values.randomness import Common
from viva.verdict import CandidateDied, CandidateFault, CandidateLied, CandidateOdd, CandidateStopped, WireError

ALARMS = frozenset({signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF})
"""What tests limit the time of student code with. A handler that raises would leave an answer unread."""
OF_SOLUTION_BYTES = pipe.MESSAGE // 2
"""So large may an answer of the solution's be: a right one may hold float64 where it holds float32."""
UNSEEN = frozenset({"call", "enter", "next", "getattr"})
"""Operations for the sake of which a test may ask, whatever they give."""


class Asker:
    """Puts questions to the candidate over a pair of pipes, one after the other."""

    def __init__(self, question: int, answer: int) -> None:
        self.question, self.answer = question, answer
        self.turn = threading.RLock()
        self.kinds = Kinds()
        self.references = References(self)
        self.raised = Raised(self)
        self.random = Common()
        self.known_errors = np.geterr()
        self.rebound: Callable[[], dict[str, object]] = dict
        """Names that test code has bound since, and that the candidate should see."""
        self.shared = Shared()
        self.told = Told(self)
        self.hidden = 0
        """How many hidden parts of test code are running: hidden lines, and functions that are defined in some."""
        self.first = True
        """Whether the next question is the first of a check."""
        self.marking = self.setting = False
        """Whether the check writes into items only what stands in its text, and into no whole array; see
        ``testcode.marks``."""
        self.fault: CandidateFault | None = None
        """The first fault of the candidate; it counts even when test code swallowed it."""
        self.asserted: AssertionError | None = None
        """What a test asserted in vain while it was called back; it counts even when student code swallowed it."""
        self.check = ""
        """The grade cell and the check that runs."""
        self.culprit, self.running = "", ""
        """The name that the first fault was asked for, and the traceback of an interrupt."""
        self.hurry: Callable[[str], None] = str
        """Is told the name that will be asked to do something, and may raise CandidateStopped."""
        self.waiting = False
        """Whether a question is under way, and no test code runs."""
        self.heard: Callable[..., object] = lambda *answer: None
        """Is told what the candidate answers, and the message that carried it."""

    def operate(self, operation: str, *args: object, path: str, kwargs: dict | None = None) -> object:
        """The result of one operation in the candidate; see _operate."""
        with self.alone():
            return self._asked(operation, args, shortened(path), kwargs)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Until a question is answered no other is put, by a thread of the test's or by a handler of its signals."""
        with self.turn:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, ALARMS)
            try:
                yield
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _asked(self, operation: str, args: tuple, path: str, kwargs: dict | None) -> object:
        before, self.waiting = self.waiting, True
        self.told.calls += operation != "tell"
        root = path[: re.match(r"\w*", path).end()]
        try:
            if operation != "tell":
                self.hurry(root)
            return self._operate(operation, args, kwargs or {}, path)
        except CandidateFault as fault:
            if self.fault is None:
                self.fault, self.culprit = fault, root
            raise
        finally:
            self.waiting = before
            if operation != "tell":
                self.told.called()
                self.told.calls -= 1

    def name(self, name: str) -> object:
        """What a name of the notebook means."""
        try:
            return self.told.name(name)
        except CandidateFault as fault:
            self.fault = self.fault or fault
            raise

    def _operate(self, operation: str, args: tuple, kwargs: dict, path: str) -> object:
        """The result of one operation in the candidate.

        Raises what the operation raised there, CandidateLied when the answer is malformed or of
        another kind than the solution's, CandidateDied when there is no answer.
        """
        if (known := decided(self, operation, args)) is not None:
            return known
        request = {"do": "operate", "operation": operation, "args": args, "kwargs": kwargs}
        if self.first:
            request["first"], self.first = True, False
        if (errors := np.geterr()) != self.known_errors:
            request["errors"] = self.known_errors = errors
        if rebound := self.rebound():
            request["rebound"] = rebound
        if self.kinds.takes_objects(path) and not self.kinds.recording:
            request["by_name"] = True
        self.shared.trim(*OF_SOLUTION if self.kinds.recording else ())
        if changed := self.shared.changed(self.told.named if self.hidden else None):
            request["shared"] = changed
            self.told.forget_kept(changed)
        self.random.tell(request)
        found: list[wire.Reference] = []
        handed: list[CandidateOdd] = []
        reply = self.exchange(request, path, found, handed)
        with doubting():
            self.take_state(reply)
            warned = self.raised.warnings(reply.get("warned"))
            kept = kept_in(reply, places := {**dict(enumerate(args)), **kwargs})
            error = self._error(reply["raised"], operation, path) if "raised" in reply else None
        _print(reply.get("printed", []))
        for warning, filename, line in warned:
            warnings.warn_explicit(warning, None, filename, line)
        arguments = {number: places[place] for place, number in kept.items() if place is not None}
        with doubting():
            for number, value in arguments.items():
                self.shared.keep(number, value)
            if self.hidden and self.setting:
                self.shared.marked.update(arguments)
            take_changed(self, arguments, reply.get("changed", {}), path + " changed")
        if self.hidden and reply.get("changed"):
            self.share()  # it is the student's doing, and what hidden lines do next is not
        if error is not None:
            raise error
        value, number = reply.get("value"), kept.get(None)
        if handed:
            raise handed[0]
        if odd := self.kinds.odd(path, found, value, operation == "call" and is_class(args[0])):
            if operation not in UNSEEN:
                raise odd
            if operation == "getattr" and path not in self.kinds.known and can_be_called(value):
                return method_of(value)
            return Misfit(lambda: self.refuse(odd))
        if number is None or found:
            return value
        # What both sides keep already is the same object here too, as when a function returns its argument.
        mine = self.shared.get(number)
        with doubting():
            if self.hidden and self.setting:
                self.shared.marked.add(number)
            if type(mine) is type(value):
                self.shared.take(number, value)
                return mine
            computed = operation == "call" and holds_arrays(value) and self.kinds.allows(COMPUTED, path)
            computed = computed and not self.marking
            value = self.shared.linked(value, reply.get("windows"), arguments, computed)
            self.shared.keep(number, value, computed)
        return value

    def share(self) -> None:
        """Tell at once what has changed in place."""
        if changed := self.shared.changed():
            self.exchange({"do": "share", "values": changed})
            self.told.forget_kept(changed)

    def is_silent(self, value: object) -> bool:
        """Whether hidden lines are running that have changed a value in place."""
        if self.hidden:
            self.shared.hide(self.told.named)
        return bool(self.hidden) and self.shared.is_silent(value)

    def _error(self, raised: object, operation: str, path: str) -> BaseException:
        if isinstance(raised, dict) and safe(str, raised.get("name")) == "KeyboardInterrupt":
            self.running = safe(str, raised.get("traceback"))
            return CandidateStopped("the time was over")
        error = self.raised.exception(raised)
        # ``for`` and ``map`` in the test would take it for their own end, and pass what they never looked at.
        if isinstance(error, StopIteration) and operation != "next" and not self.kinds.allows(STOPS, path):
            return left_generator(error)
        return error

    def refuse(self, odd: CandidateFault) -> NoReturn:
        self.fault = self.fault or odd
        raise odd.with_traceback(None)

    def exchange(self, request: dict, path: str = "", found: list | None = None, handed: list | None = None) -> dict:
        """Send a request and return the reply, serving callbacks meanwhile if it is an operation.

        ``found`` takes the references to objects, ``handed`` what is wrong with what callbacks were handed.
        """
        with self.alone():
            return self._exchanged(request, path, found, handed)

    def _exchanged(self, request: dict, path: str, found: list | None, handed: list | None) -> dict:
        operating, found = found is not None, [] if found is None else found
        if isinstance(self.fault, CandidateDied):
            raise self.fault
        before, self.waiting = self.waiting, True
        try:
            pipe.write(self.question, wire.encode(request, self.references.refer))
            while True:
                data = pipe.read(self.answer)
                if self.kinds.recording and len(data) > OF_SOLUTION_BYTES:
                    raise CandidateLied(f"an answer of {len(data)} bytes")
                resolved = self.references.resolved
                reply = wire.decode(data, *self.references.readers(path, found))
                if not isinstance(reply, dict):
                    raise CandidateLied("the answer is not an answer")
                if "refused" in reply:
                    raise CandidateLied(f"the answer cannot be read: {plaintext.quoted(safe(str, reply['refused']))}")
                if "value" in reply:
                    reply["value"] = self.kinds.as_series(data, reply["value"], path)
                self.kinds.check_arrays(data, reply, path)
                self.heard([*reply.values()], data)
                if "callback" not in reply:
                    return reply
                if not operating:
                    raise CandidateLied("a callback where no code of the student's runs")
                if self.references.resolved != resolved:  # else it is the same by another path
                    found.clear()
                    reply = wire.decode(data, *self.references.readers(path + HANDED, found))
                handed += filter(None, [self.kinds.odd_handed(path, found, reply.get("args"))])
                found.clear()
                calledback.serve(self, reply)
        except (EOFError, BrokenPipeError):
            raise CandidateDied from None
        except WireError as error:
            raise CandidateLied(f"the answer cannot be read: {error}") from None
        finally:
            self.waiting = before

    def share_random_state(self) -> None:
        """Go on from the random numbers that the notebook's cells have left behind."""
        self.take_state(self.exchange({"do": "random"}))

    def take_state(self, reply: dict) -> None:
        for name in rebound if isinstance(rebound := reply.get("rebound"), list) else ():
            if isinstance(name, str):
                self.told.rebound(name)
        if "random_state" in reply:
            try:
                self.random.take(reply["random_state"])
            except (ValueError, TypeError):
                raise CandidateLied("a state of random numbers that is none") from None


def _print(printed: object) -> None:
    """Print here what the student's code printed there, so that test code can capture it."""
    for item in printed if isinstance(printed, list) else ():
        match item:
            case (str(name), str(text)):
                (sys.stderr if name == "stderr" else sys.stdout).write(text)
