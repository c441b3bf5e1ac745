"""The examiner: a process that runs the instructor's test cells and asks the candidate.

Theory of operation. The process is a fork of a fork server of its own, in a sandbox that holds it more
loosely than the candidate's. It holds the namespace in which test code runs. Instructor cells that do
not depend on the student are run right here, each at its place in the notebook, so that imports,
given data and given helpers are the instructor's own. Every other name is asked of the candidate
when test code uses it; functions and objects come as proxies.

On descriptor 3 it reads requests of the grading process, on 4 it writes replies; 5 and 6 lead to the
candidate.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import os
import signal
import sys
import time
import traceback
import types
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from viva.engine import pipe, wire
from viva.engine.credit import Result, result_of
from viva.engine.dialogue.asker import Answer, Asker, CheckState
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.expected import Expected, Path, Step
from viva.engine.dialogue.guard import Guard
from viva.engine.dialogue.looks import LOOKED, CourseModules, Looks
from viva.engine.dialogue.namespace import FORMATTING, Namespace, Notebook, Solution, compiled
from viva.engine.dialogue.proxies import PROXIES
from viva.engine.dialogue.sourcecode import SourceCode
from viva.engine.outcome import CHARACTERS, CheckReport, failed, running
from viva.engine.values.randomness import State, get_state, number_of, set_state
from viva.engine.values.sharing import seed
from viva.verdict import CandidateDied, CandidateFault, CandidateOdd, CandidateStopped, Verdict

REQUEST, REPLY, QUESTION, ANSWER = 3, 4, 5, 6
WRITTEN = Path("", (Step("operation", "written"),))
"""Where it is kept that a text of the solution's changes a database."""
LINE, LOG = 500, 4000
"""Characters of a fault of the examiner's own, and of its traceback."""


class Printed(io.StringIO):
    """The printed text of a check and the student's code in it, cut at a limit."""

    def write(self, text: str) -> int:
        if self.tell() < CHARACTERS:
            super().write(text[: CHARACTERS - self.tell()])
        return len(text)


class Examiner:
    """Serves the grading process until it closes the pipe."""

    def __init__(self) -> None:
        self.asker = Asker(QUESTION, ANSWER, self._rebound, self._hurry)
        self.guard = Guard(self.asker.refuse, range(REQUEST, ANSWER + 1))
        self.asker.references.follow_copies()
        self.asker.heard = self.guard.note
        self.slow: set[str] = set()
        """Names that did not finish once: the grading process is told before they are asked something."""
        self.given_up: set[str] = set()
        """Names that nothing is asked of any more, as they never finish."""
        self.sourcecode = SourceCode(self.asker)
        self.namespace = Namespace(self.asker)
        self.looks = Looks()
        dict.update(self.namespace, {FORMATTING: self.guard.formatting, **self.looks.names})
        self.solution = Solution(self.namespace)
        self.shared: dict[str, object] = {}
        """Names of the notebook that the visible text of the cell binds, and their values when they were last sent."""
        self.testing = False
        self.folder = os.getcwd()

    def serve(self) -> None:
        signal.signal(signal.SIGINT, self._stop)
        warnings.formatwarning = _shown
        self.sourcecode.install()
        self.asker.observer.install()
        sys.modules["__main__"] = Notebook(self.namespace, self.guard.look_up)
        CourseModules(f"{os.path.realpath(self.folder)}/", self.looks).install()
        self.guard.watch()
        while True:
            try:
                request = wire.decode(pipe.read(REQUEST))
            except EOFError:
                os._exit(0)
            try:
                reply = wire.encode(getattr(self, "do_" + request.pop("do"))(**request))
            except BaseException as error:  # a fault of the candidate's is not an Exception
                message = f"{type(error).__name__}: {safe(str, error)}"
                log = "".join([*traceback.format_tb(error.__traceback__), message])
                reply = wire.encode({"fault": " ".join(message.split())[:LINE], "log": log[-LOG:]})
            pipe.write(REPLY, reply)

    def _stop(self, *_: object) -> None:
        """End a test that computes on when its time is over, as with what the student's code answered it may for ever.

        A test that waits is left to wait: then the candidate will be ended.
        """
        if self.testing and not self.asker.waiting:
            self.asker.check.fault = self.asker.check.fault or CandidateStopped("the time limit was reached")
            raise self.asker.check.fault

    def _hurry(self, name: str) -> None:
        if name in self.given_up:
            raise CandidateStopped("it never finishes")
        if name in self.slow:
            self.slow.discard(name)
            pipe.write(REPLY, wire.encode({"asks": name}))

    def do_prepare(self, kinds: dict, recording: bool) -> dict:
        looks = {name: text for name, text in kinds.items() if name.startswith(LOOKED)}
        self.looks.learn(looks)
        self.asker.expected.learn({path: kind for path, kind in kinds.items() if path not in looks})
        self.asker.expected.recording = self.guard.recording = recording
        self.asker.observer.watching = recording
        return {}

    def do_shuffle(self, random_state: State) -> dict:
        """Draw the random numbers of both processes from another state from now on."""
        self._shuffle(random_state)
        self.asker.random.agree(random_state)
        return {}

    def _shuffle(self, random_state: State) -> None:
        set_state(random_state)
        seed(number_of(random_state))

    def do_withhold(self) -> dict:
        """Let a test's objects stay as they are from now on, where the solution's calls do not change them."""
        self.asker.withholding = True
        return {}

    def do_kinds(self) -> dict:
        return {"kinds": self.asker.expected.texts(), "looks": self.looks.texts()}

    def do_observed(self) -> dict:
        """Whether the tests of this cell looked at which values are one: the kind of the note on it."""
        return {"why": self.asker.observer.why}

    def do_own(self, names: list[str], files: Sequence[str] = ()) -> dict:
        """Leave these names to the student from now on, and these files of this process's folder.

        A test that reads one of them fails here, and so is run in the candidate.
        """
        self.namespace.give_up(set(names))
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.folder, name))
        return {}

    def do_ran(self) -> dict:
        """The candidate has run cells since."""
        self.asker.names.ran()
        return {}

    def do_given(self, source: str, name: str, begun: bytes = b"") -> dict:
        """Run an instructor cell that does not depend on the student.

        It draws what it drew in the candidate, which told from which state it had ``begun``. The candidate has run the
        cells below, too: what becomes of its random numbers meanwhile is not this cell's.
        """
        self._go_on(begun)
        self.namespace.bound, self.namespace.giving = set(), True
        self._stand_apart(True)
        report = self._check(source, name)
        self._stand_apart(False)
        self.namespace.giving = False
        self.namespace.given |= self.namespace.bound
        return {
            "error": "" if report.verdict is Verdict.PASSED else f"{report.reason}\n{report.traceback}"[:CHARACTERS]
        }

    def _go_on(self, begun: bytes) -> None:
        """Draw from the states of a stranger's message, as far as drawing leads to them."""
        with contextlib.suppress(Exception):
            told: Any = wire.decode(begun)
            self.asker.random.take(told["random_state"], told["seeds"])
            self.asker.references.shared.follow(told["shared"])

    def _stand_apart(self, apart: bool) -> None:
        self.asker.random.apart = apart
        self.asker.references.shared.stand_apart(apart)

    def do_carry(self, cells: list[tuple[str, str]], names: list[str]) -> dict:
        """Run these cells of the solution, and have the candidate find under the ``names`` what they mean there.

        Of a function it gets a callback, of data a copy. What is neither stays what it is, and so does all where a cell
        fails; the ``names`` of the reply are the others.
        """
        output, state = Printed(), get_state()
        self._stand_apart(True)
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                for cell, source in cells:
                    code, last, _ = compiled(source, cell)
                    self.guard.begin(code, last, awake=False)
                    exec(code, self.solution, self.solution)
        except Exception:  # as where it draws with a library that only the candidate has loaded
            return {"names": []}
        finally:
            set_state(state)
            self._stand_apart(False)
        told = {name: self.solution[name] for name in names if name in self.solution}
        told = {name: value for name, value in told.items() if self._can_be_told(value)}
        self.asker.check = CheckState()
        with contextlib.suppress(CandidateFault):
            self.asker.exchange({"do": "bind", "names": told})
            self.asker.names.forget(told)
            self.asker.carried |= {self.asker.references.numbers.get(id(value), -1) for value in told.values()}
            return {"names": [*told]}
        return {"names": []}

    def do_run(self, source: str) -> dict:
        """Have the candidate run a cell that may call what it got of the solution, and say what ended it."""
        self.asker.check = CheckState()
        self.guard.begin(awake=True)
        self.testing = True
        try:
            reply = self.asker.exchange({"do": "run", "source": source, "asked": True}, Answer(Path("")))
        except CandidateDied:
            return {"died": True}
        except CandidateFault as fault:
            return {"raised": {"name": type(fault).__name__, "message": safe(str, fault), "traceback": ""}}
        finally:
            self.testing = self.guard.awake = False
        raised = reply.get("raised")
        if not isinstance(raised, dict):
            return {"raised": None}
        return {"raised": {part: safe(str, raised.get(part))[:CHARACTERS] for part in ("name", "message", "traceback")}}

    def do_begin(
        self,
        cell: str,
        prelude: str,
        visible: list[str],
        used: Iterable[str] = (),
        read: Iterable[str] = (),
        sources: Sequence[str] = (),
        random_state: State | None = None,
        **hurried: list[str],
    ) -> dict:
        """Start on a grade cell: run what stands before its checks. The report is of that, when it failed.

        When test code binds a ``visible`` name that the notebook has too, or that its functions ``read``, these see it.
        Of the names that are ``used`` in the cell the student's are asked in one question. ``sources`` are the texts of
        the cells that the candidate has run, where the cell asks for a source. Its random numbers go on from those of
        the candidate, if no ``random_state`` is told.
        """
        self.asker.expected.reduced = self.asker.expected.copied = False
        self.sourcecode.sources, self.looks.cell, self.asker.questions = [*sources], cell, 0
        self.asker.observer.begin()
        self.namespace.bound, self.namespace.deleted = set(), {}
        unbound = self.namespace.owned.difference(dict.keys(self.namespace))
        self.asker.names.wanted = tuple(name for name in used if name in unbound)
        shareable = self.namespace.owned | self.namespace.given | set(read)
        self.shared = {name: dict.get(self.namespace, name) for name in visible if name in shareable}
        with contextlib.suppress(CandidateFault):
            self.asker.take_state(self.asker.exchange({"do": "random"}))
        if random_state is not None:
            self._shuffle(random_state)
        report = self._check(prelude, cell, **hurried) if prelude.strip() else CheckReport(cell, Verdict.PASSED)
        return {"report": report.crossing()}

    def do_check(self, title: str, source: str, **hurried: list[str]) -> dict:
        """Run one check; for ``hurried`` see viva/engine/timebudget.py."""
        return {"report": self._check(source, title, **hurried).crossing()}

    def do_finish(self, pushed: list[str]) -> dict:
        """Leave a grade cell: the candidate gets the ``pushed`` names, as if the visible text had run there."""
        self.shared = {}
        self._push(set(pushed))
        self.asker.names.forget(pushed)
        return {}

    def _push(self, names: set[str]) -> None:
        values = {
            name: self.namespace[name]
            for name in self.namespace.bound & names
            if name in self.namespace and self._can_be_told(self.namespace[name])
        }
        request = {"do": "bind", "names": values}
        self.asker.random.tell(request)  # a seed holds for the cells below, too
        shared = self.asker.references.shared.by_library
        if (values or shared or "random_state" in request) and not isinstance(self.asker.check.fault, CandidateDied):
            with contextlib.suppress(CandidateFault):
                self.asker.exchange(request)

    def _rebound(self) -> dict[str, object]:
        new = {}
        for name, last in self.shared.items():
            value = dict.get(self.namespace, name)
            if value is not last and value is not None and self._can_be_told(value):
                new[name] = self.shared[name] = value
        return new

    def _can_be_told(self, value: object) -> bool:
        if type(value) in PROXIES or isinstance(value, types.FunctionType):
            return True
        return wire.is_plain(value) or self.asker.references.shared.refer(value) is not None

    def _check(self, source: str, title: str, slow: Sequence[str] = (), given_up: Sequence[str] = ()) -> CheckReport:
        self.asker.check = state = CheckState()
        self.slow, self.given_up = set(slow), set(given_up)
        self.looks.begin(source)
        output = Printed()
        start = time.monotonic()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                self.testing = True
                result = self._execute(source, title)
                self.testing = self.guard.awake = False
            report = CheckReport(title, Verdict.PASSED, result=result)
        except BaseException as error:  # pytest's Failed is not an Exception, nor are SystemExit and our own faults
            self.testing = self.guard.awake = False
            if type(error) is AssertionError and not error.args and not hasattr(error, "viva_traceback"):
                error.args = tuple(filter(None, [self.asker.references.shared.difference(*_place(error))]))
            report = failed(error, title)
        if report.verdict is Verdict.PASSED and (unseen := state.fault or state.asserted or self._in_vain()):
            report = failed(unseen, title)
        report.seconds = time.monotonic() - start
        report.asked, report.running, report.called = state.culprit, running(state.running), state.called
        report.reduced, report.copied = self.asker.expected.reduced, self.asker.expected.copied
        report.printed, report.effects = output.getvalue(), sorted({*state.effects, *self._written()})
        return report

    def _in_vain(self) -> CandidateOdd | None:
        """What is wrong with an answer where a check passed that looked at nothing, as the answer was empty."""
        if self.namespace.giving:
            return None
        if self.asker.expected.recording:
            self.looks.record()
            return None
        return self.asker.expected.empty if self.looks.in_vain() else None

    def _written(self) -> list[str]:
        """An empty name where a text of the answer's changed a database of the test's, and the solution's does not."""
        known = self.asker.expected.known
        if self.guard.wrote and self.guard.recording:
            known[WRITTEN] = Expected()
        return [""] if self.guard.wrote and WRITTEN not in known else []

    def _execute(self, source: str, title: str) -> Result:
        code, last, in_classes = compiled(source, title, self.asker.observer.watching)
        linecache.cache[title] = (len(source), None, [line + "\n" for line in source.splitlines()], title)
        for name in in_classes & self.namespace.owned:
            if name not in self.namespace:
                with contextlib.suppress(NameError):
                    dict.__setitem__(self.namespace, name, self.namespace[name])
        self.guard.begin(code, last, awake=not self.namespace.giving)
        exec(code, self.namespace, self.namespace)
        return None if last is None else result_of(eval(last, self.namespace, self.namespace))


def _place(error: BaseException) -> tuple[types.CodeType, range]:
    """The code that raised an exception, and the lines of the statement."""
    last: Any = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    code, line = last.tb_frame.f_code, last.tb_lineno
    start, end, *_ = next(itertools.islice(code.co_positions(), last.tb_lasti // 2, None))
    return code, range(start or line, (end or line) + 1)


def _shown(message: object, category: type, filename: str, lineno: int, line: str | None = None) -> str:
    """A warning as text. Python would add the line of the file that it names: a student's may name a test."""
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"
