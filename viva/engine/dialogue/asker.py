"""Puts the examiner's questions to the candidate, and reads the answers before test code sees them."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from viva.cleaning import plaintext
from viva.engine import pipe, wire
from viva.engine.dialogue.arguments import is_like, parts_of, take, taken
from viva.engine.dialogue.exceptions import Raised, left_generator, safe
from viva.engine.dialogue.expected import CHANGED, HANDED, Expected, ExpectedTypes, Path, walk
from viva.engine.dialogue.namecache import NameCache
from viva.engine.dialogue.proxies import (
    PROXIES,
    Home,
    about,
    can_be_called,
    handed_number,
    is_class,
    is_sealed,
    method_of,
    number_of,
    refusing,
)
from viva.engine.dialogue.references import References
from viva.engine.dialogue.sameness import Observer
from viva.engine.values.randomness import Followed
from viva.engine.values.sharing import NEWS
from viva.verdict import CandidateDied, CandidateFault, CandidateLied, CandidateOdd, CandidateStopped, WireError

ALARMS = frozenset(getattr(signal, name) for name in ("SIGALRM", "SIGVTALRM", "SIGPROF") if hasattr(signal, name))
"""The signals with which tests limit the time of student code. A handler that raises would leave an answer unread."""
OF_SOLUTION_BYTES = pipe.MESSAGE // 2
"""The largest answer of the solution's: a right one may hold float64 where it holds float32."""
TELLING = frozenset({"operate", "bind"})
"""Requests before which the candidate is told the news of what both sides share."""
MOST_CALLBACKS = 100
"""The callbacks that are refused while an operation ends."""
MOST_QUESTIONS = 5_000
"""The most questions of a grade cell about the solution, of some 0.3 ms each: a cell that asks more often is a
single-process cell, on every machine."""
OFTEN = f"its test asks the student's code more than {MOST_QUESTIONS} times"
UNSEEN = frozenset({"call", "next", "getattr"})
"""Operations for the sake of which a test may ask, whatever they give."""


@dataclass
class CheckState:
    """The state of the check that runs."""

    first: bool = True
    """Whether its next question is the first."""
    fault: CandidateFault | None = None
    """The first fault of the candidate; it counts even when test code swallowed it."""
    asserted: AssertionError | None = None
    """An assertion of the test's that failed in a callback; it counts even if student code swallowed it."""
    culprit: str = ""
    """The name that the first fault was asked for."""
    running: str = ""
    """The traceback of an interrupt."""
    effects: list[str] = field(default_factory=list)
    """The names whose calls changed an argument that the solution's never changes."""
    called: int = 0
    """How often the student's code called functions of the test."""


class Asker:
    """Puts questions to the candidate over a pair of pipes, one after the other."""

    def __init__(
        self,
        question: int,
        answer: int,
        rebound: Callable[[], dict[str, object]] = dict,
        hurry: Callable[[str], object] = str,
        heard: Callable[..., object] = lambda *answer: None,
    ) -> None:
        """``rebound`` gives the names that test code has bound since, and that the candidate should see; ``hurry`` is
        told the name that will be asked to do something, and may raise CandidateStopped; ``heard`` is told what the
        candidate answers, and the message that carried it."""
        self.pipes = question, answer
        self.rebound, self.hurry, self.heard = rebound, hurry, heard
        self.turn = threading.RLock()
        self.expected = ExpectedTypes()
        self.raised = Raised()
        self.references = References(Home(self.operate), self.expected, self.raised)
        self.references.refuse = self.refuse
        self.names = NameCache(self.operate, self.references, self.expected, lambda *answer: self.heard(*answer))
        self.random = Followed()
        self.observer = Observer(self.references.shared.held)
        self.yielded: tuple[int, list] = (-1, [])
        """The number of the iterator that was asked last for its next value, and the changeable parts of that."""
        self.usual = np.geterr()
        self.check = CheckState()
        self.waiting = False
        """Whether a question is under way, and no test code runs."""
        self.questions = 0
        """How many were put since the grade cell began."""
        self.carried: set[int] = set()
        """The numbers of the solution's functions that the candidate calls; what they are handed decides nothing."""
        self.withholding = False
        """Whether a test's objects stay as they are where the solution's call does not change them."""

    def operate(self, operation: str, *args: object, path: Path, kwargs: dict | None = None) -> Any:
        """The result of one operation in the candidate; see _operate."""
        with self.alone():
            before, self.waiting = self.waiting, True
            telling = operation == "tell"
            self.names.calls += not telling
            try:
                self.questions += 1
                if self.expected.recording and self.questions > MOST_QUESTIONS:
                    raise CandidateLied(OFTEN)
                if not telling:
                    self.hurry(path.root)
                return self._operate(operation, args, kwargs or {}, path)
            except CandidateFault as fault:
                if self.check.fault is None:
                    self.check.fault, self.check.culprit = fault, path.root
                raise
            finally:
                self.waiting = before
                if not telling:
                    self.names.called()
                    self.names.calls -= 1

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Until a question is answered no other is put, by a thread of the test's or by a handler of its signals."""
        with self.turn:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, ALARMS)
            try:
                yield
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def name(self, name: str) -> object:
        """The value of a name of the notebook."""
        try:
            value = self.names.name(name)
        except CandidateFault as fault:
            self.check.fault = self.check.fault or fault
            raise
        if self.observer.watching:
            self.observer.named(name, value)
        return value

    def _operate(self, operation: str, args: tuple, kwargs: dict, path: Path) -> Any:
        """The result of one operation in the candidate.

        Raises what the operation raised there, CandidateLied when the answer is malformed or of
        another type than the solution's, CandidateDied when there is no answer.
        """
        arguments = [*args, *kwargs.values()]
        if self.expected.recording:
            self.expected.check_arguments(arguments)
            self.observer.asking()
        answer = Answer(path, parts_of(arguments, self.references.whole), arguments=arguments)
        if operation == "next":
            answer.asked = number_of(args[0])
        own = len(answer.changeable)
        reply = self.exchange(self._request(operation, args, kwargs, path), answer)
        try:
            self._take_effects(reply, operation, answer)
        finally:
            if self.observer.watching:
                self.observer.handed(answer.changeable, own)
        of_class = operation == "call" and is_class(args[0])
        value = self._value(reply, operation, answer, of_class)
        if self.observer.watching and operation != "tell":
            self.observer.given(value, operation, args, kwargs, drawn="random_state" in reply)
        return value

    def _request(self, operation: str, args: tuple, kwargs: dict, path: Path) -> dict[str, Any]:
        """The request for an operation, with all that the candidate has to know before it."""
        request: dict[str, Any] = {"do": "operate", "operation": operation, "args": args, "kwargs": kwargs}
        if self.check.first:
            request["first"], self.check.first = True, False
        if rebound := self.rebound():
            request["rebound"] = rebound
        if self.expected.takes_objects(path) and not self.expected.recording:
            request["by_name"] = True
        if (errstate := np.geterr()) != self.usual and "call" not in errstate.values():
            request["errstate"] = errstate
        self.random.tell(request)
        return request

    def _take_effects(self, reply: dict, operation: str, answer: Answer) -> None:
        """Print what the student's code printed, warn of what it warned of, change the arguments that it changed.

        Raises what it raised, and what is wrong with the arguments that it handed to callbacks.
        """
        with doubting():
            self.take_state(reply)
            warned = self.raised.warnings(reply["warned"]) if "warned" in reply else ()
            error = self._error(reply["raised"], operation, answer.path) if "raised" in reply else None
        if "printed" in reply:
            _print(reply["printed"])
        for warning, filename, line in warned:
            warnings.warn_explicit(warning, None, filename, line)
        if "changed" in reply:
            with doubting():
                self._take_changed(reply["changed"], answer)
        if error is not None:
            raise error
        if answer.handed:
            raise answer.handed[0]

    def _value(self, reply: dict, operation: str, answer: Answer, of_class: bool) -> Any:
        """The value that the test gets; ``of_class`` says that a class of the student's was called.

        Raises what is wrong with the value. Where the test may ask for the sake of the operation alone, it gets
        something else instead, which raises as soon as the test looks at it.
        """
        with doubting():
            same = None if answer.withheld else reply.get("same")
            value, references = given_back(reply.get("value"), same, answer.changeable)
            odd = self.expected.odd(answer.path, answer.references + references, value, answer.data, of_class)
        if not odd:
            return self._yielded(value, reply.get("again"), answer) if operation == "next" else value
        self.yielded = (-1, [])
        if operation not in UNSEEN or self.expected.recording:
            raise odd
        of_object = operation == "getattr" and answer.references and answer.path not in self.expected.known
        if of_object and can_be_called(value):
            return method_of(value)
        try:
            return self.references.sealed(value, odd, answer.path, answer.data)
        except CandidateFault as fault:
            return refusing(fault, self.refuse)

    def _yielded(self, value: Any, again: object, answer: Answer) -> Any:
        """The next ``value`` of an iterator: what the candidate has in it ``again`` is the test's of the value before,
        changed in place."""
        last, before = self.yielded
        with doubting():
            known = type(again) is list and len(again) == len(parts_of([value], self.references.whole))
            if known and last == answer.asked:
                (value,), _ = taken([value], {}, again, [*before])
        self.yielded = answer.asked, parts_of([value], self.references.whole)
        return value

    def _take_changed(self, data: object, answer: Answer) -> None:
        """Change arguments in place. Objects that were not in a list before are refused where the solution put none."""
        changeable, path = answer.changeable, answer.path.then(CHANGED)
        if not isinstance(data, bytes):
            raise CandidateLied("invalid changed arguments")
        references: list[wire.Reference] = []
        received = wire.decode(data, lambda reference: self.references.resolve(reference, path, references))
        if type(received) is not list or len(received) != len(changeable):
            raise CandidateLied("invalid changed arguments")
        before = [_objects_in(part) for part in changeable]
        new = set().union(*(_objects_in(part) - numbers for part, numbers in zip(received, before, strict=True)))
        new |= {reference.id for reference in references} - set().union(*before)
        new_references = [reference for reference in references if reference.id in new]
        odd = self.expected.odd(path, new_references, received, data)
        if not odd and any(map(is_sealed, walk(changeable))):
            odd = CandidateOdd(path.readable, "an object")
        received = self.references.sealed(received, odd, path, data) if odd else received
        if effects := self._new_effects(received, answer):
            self.check.effects.append(path.root)
        if self.withholding:
            answer.withheld = bool(effects)
            received = [changeable[place] if place in effects else part for place, part in enumerate(received)]
        take(changeable, received)

    def _new_effects(self, received: list, answer: Answer) -> list[int]:
        """The places of the parts that have changed, of arguments that this call of the solution's changes nowhere.

        While recording, what the solution changes is noted: by the path, and the number of the argument.
        """
        if answer.path not in self.expected.known and not self.expected.recording:
            return []
        numbered = [(id(part), number) for number, value in enumerate(answer.arguments) for part in parts_of([value])]
        argument_of, effects = dict(reversed(numbered)), []
        for place, (part, now) in enumerate(zip(answer.changeable, received, strict=True)):
            effect = answer.path.then(CHANGED).attribute(str(argument_of.get(id(part), "")))
            if id(part) not in argument_of or effect in self.expected.known or self._is_the_same(part, now):
                continue
            if self.expected.recording:
                self.expected.known[effect] = Expected()
            else:
                effects.append(place)
        return effects

    def _is_the_same(self, *parts: Any) -> bool:
        try:
            one, other = (
                wire.encode([*part] if type(part) is deque else part, self.references.refer) for part in parts
            )
        except WireError:
            return False
        return one == other

    def _error(self, raised: object, operation: str, path: Path) -> BaseException:
        if isinstance(raised, dict) and safe(str, raised.get("name")) == "KeyboardInterrupt":
            self.check.running = safe(str, raised.get("traceback"))
            return CandidateStopped("the time limit was reached")
        self.expected.check(path, raised)
        error = self.raised.exception(raised)
        # ``for`` and ``map`` in the test would take it for their own end, and pass what they never looked at.
        return left_generator(error) if isinstance(error, StopIteration) and operation != "next" else error

    def refuse(self, odd: CandidateFault) -> NoReturn:
        self.check.fault = self.check.fault or odd
        raise odd.with_traceback(None)

    def exchange(self, request: dict, answer: Answer | None = None) -> dict:
        """Send a request and return the reply, serving callbacks meanwhile if it is an operation.

        ``answer`` takes what is to be known of the reply to an operation.
        """
        with self.alone():
            if isinstance(self.check.fault, CandidateDied):
                raise self.check.fault
            before, self.waiting = self.waiting, True
            heard = answer or Answer(Path(""))
            try:
                try:
                    data = wire.encode(request, self.references.refer, likes=self.references.likes)
                except WireError as error:  # of what the test hands over
                    raise CandidateLied(str(error)) from None
                self._send(data, request["do"] in TELLING)
                try:
                    while "callback" in (reply := self._reply(heard)):
                        if answer is None:
                            raise CandidateLied("a callback while no student code runs")
                        self._serve(reply, answer)
                    return reply
                except (WireError, CandidateLied):
                    self._end_operation(heard)
                    raise
            except (EOFError, BrokenPipeError):
                raise CandidateDied from None
            except WireError as error:
                raise CandidateLied(f"the reply cannot be read: {error}") from None
            finally:
                self.waiting = before

    def _end_operation(self, answer: Answer) -> None:
        """Have the candidate end an operation of which a message could not be read.

        It may wait for the answer to a callback, and would take the next request for it.
        """
        for _ in range(MOST_CALLBACKS):
            if not _is_callback(answer.data):
                return
            self._send(wire.encode({"raised": self.raised.answer(KeyboardInterrupt())}))
            answer.data = pipe.read(self.pipes[1])
            if answer.data[: len(NEWS)] == NEWS:
                answer.data = pipe.read(self.pipes[1])
        raise CandidateDied

    def _send(self, data: bytes, telling: bool = True) -> None:
        """Send a message, behind the news of what both sides share."""
        if telling and (news := self.references.shared.news()):
            pipe.write(self.pipes[0], wire.encode({"do": "news", "news": news}))
        pipe.write(self.pipes[0], data)

    def _reply(self, answer: Answer) -> dict:
        """The next message of the candidate's; what is in a callback's is at another path."""
        answer.data = data = pipe.read(self.pipes[1])
        if data[: len(NEWS)] == NEWS:
            news, answer.data = data[len(NEWS) :], pipe.read(self.pipes[1])
            data = answer.data
            with doubting():
                self.references.shared.take(wire.decode(news))
        if self.expected.recording and len(data) > OF_SOLUTION_BYTES:
            raise CandidateLied(f"a reply of {len(data)} bytes")
        reply = self._decoded(data, answer.path, answer.references)
        if "refused" in reply:
            raise CandidateLied(f"the reply cannot be read: {plaintext.quoted(safe(str, reply['refused']))}")
        if "value" in reply:
            with doubting():
                reply["value"] = self.expected.as_series(data, reply["value"], answer.path)
        self.heard([*reply.values()], data)
        if "callback" in reply:
            handed: list[wire.Reference] = []
            reply = self._decoded(data, path := answer.path.then(HANDED), handed)
            with doubting():
                odd = self.expected.odd(path, handed, reply.get("args"), data)
            # Objects may be handed over, too, where the call itself gave one.
            known = type(reply.get("callback")) is int and reply["callback"] in self.carried
            if odd and not known and (self.expected.recording or self.expected.odd(answer.path, handed)):
                try:
                    reply["args"] = self.references.sealed(reply.get("args"), odd, path, data)
                    self.references.sealed(reply.get("kwargs"), odd, path)
                except CandidateFault as fault:
                    answer.handed.append(fault)
        return reply

    def _decoded(self, data: bytes, path: Path, references: list) -> dict:
        references.clear()
        reply = wire.decode(data, lambda reference: self.references.resolve(reference, path, references))
        if not isinstance(reply, dict):
            raise CandidateLied("the reply has a wrong form")
        return reply

    def _serve(self, reply: dict, answer: Answer) -> None:
        """Call the function of the examiner's that a ``reply`` of the candidate's names, and send what comes of it."""
        number: Any
        args: Any
        kwargs: Any
        number, args, kwargs = map(reply.get, ("callback", "args", "kwargs"))
        if not (type(number) is int and 0 <= number < len(self.references.functions)):
            raise CandidateLied("an unknown callback")
        self.check.called += 1
        self.take_state(reply)
        self.names.called()
        with doubting():
            args, kwargs = taken(args, kwargs, reply.get("parts"), answer.changeable)
        try:
            self.waiting = False
            message = {"value": self.references.functions[number](*args, **kwargs)}
            self.waiting = True
            self.random.tell(message)
            data = wire.encode(message, self.references.refer, likes=self.references.likes)
        except CandidateDied:
            raise
        except CandidateStopped:
            data = wire.encode({"raised": self.raised.answer(KeyboardInterrupt())})
        except BaseException as error:
            if isinstance(error, AssertionError) and not hasattr(error, "viva_traceback"):
                self.check.asserted = self.check.asserted or error
            message = {"raised": self.raised.answer(error)}
            self.random.tell(message)
            data = wire.encode(message)
        self.waiting = True
        answer.data = b""
        self._send(data)

    def take_state(self, reply: dict) -> None:
        for name in rebound if isinstance(rebound := reply.get("rebound"), list) else ():
            if isinstance(name, str):
                self.names.rebound(name)
        if "random_state" in reply:
            try:
                self.random.take(reply["random_state"], reply.get("seeds"))
            except (ValueError, TypeError):
                raise CandidateLied("an invalid random state") from None


@dataclass
class Answer:
    """The answer to one operation."""

    path: Path
    changeable: list = field(default_factory=list)
    """The parts of the arguments that can be changed; those that callbacks are handed are added."""
    asked: int = -1
    """The number of the iterator that is asked for its next value."""
    data: bytes = b""
    references: list[wire.Reference] = field(default_factory=list)
    """The references to objects in it."""
    handed: list[CandidateFault] = field(default_factory=list)
    """The faults of the arguments that callbacks were handed."""
    arguments: list = field(default_factory=list)
    withheld: bool = False
    """Whether an argument did not come back changed."""


@contextlib.contextmanager
def doubting() -> Iterator[None]:
    """Whatever goes wrong while an answer is read, the answer is at fault."""
    try:
        yield
    except Exception as error:
        why = error if isinstance(error, WireError) else type(error).__name__
        raise CandidateLied(f"the reply cannot be read: {why}") from None


def _is_callback(message: bytes) -> bool:
    """Whether a message asks for a call; what else is in it may be unreadable."""
    try:
        parts = wire.decode(message, simple=True)
    except WireError:
        return False
    return isinstance(parts, dict) and "callback" in parts


def given_back(value: object, same: object, changeable: list) -> tuple[Any, list[wire.Reference]]:
    """The value of an operation, and the references to the objects in it that were there before.

    Where the candidate says that the value is one of the arguments, it is that argument as it is now, whatever else the
    candidate sends.
    """
    if type(same) is int and 0 <= same < len(changeable) and is_like(changeable[same], value):
        value = changeable[same]
        parts = [part for part in walk(value) if type(part) in PROXIES and not is_sealed(part)]
        return value, [wire.Reference(number_of(part), about(part)) for part in parts]
    return value, []


def _objects_in(value: Any) -> set[int]:
    """The numbers of the candidate's objects in a value."""
    return {handed_number(part) for part in walk(value) if type(part) in PROXIES}


def _print(printed: object) -> None:
    """Print here what the student's code printed there, so that test code can capture it."""
    for item in printed if isinstance(printed, list) else ():
        match item:
            case (str(name), str(text)):
                (sys.stderr if name == "stderr" else sys.stdout).write(text)
