"""The two kernels of a submission in R: who asks, who answers, and for how long."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

from viva.engine import plaincode
from viva.engine.kerneldialogue import NOTED, Degenerate, KernelDialogue, Probe, Second, Slip
from viva.engine.kernelsession import KernelSession, Outputs
from viva.engine.session import STUCK, Died, copy_data
from viva.engine.timebudget import Spent, TimeBudget
from viva.folder import FOR_TESTS
from viva.record import Note, note
from viva.verdict import SandboxError, Verdict
from viva_r.pipes import Pipes
from viva_r.text import why_single, with_reason
from viva_r.trees import UnreadableError, checked, is_empty

TALK, MISTAKES = (Path(__file__).with_name(name).read_text() for name in ("talk.R", "mistakes.R"))
ODD, EMPTY = "odd", "empty "
FOR_BELOW = re.compile(r"\b(?:library|require|function)\b|\\\(")
MOST_TEXT = 200_000
FORBIDDEN = re.compile(r"expectation|skip|interrupt|warning|message|rlang_|viva_")
"""Classes of conditions by which testthat and R decide what happens next."""


class _Talking(KernelSession):
    """A kernel of R with two pipes, at whose end ``talk.R`` reads and writes."""

    part = ""
    pipes: Pipes | None = None

    def _start(self, *place: Any) -> None:
        self.pipes = Pipes(self.links)
        super()._start(*place)

    def load(self) -> None:
        """Have the kernel know ``talk.R``. Raises SandboxError."""
        self.quietly(f"options(viva = {TALK.strip()}${self.part}('{self.inside}/told', '{self.inside}/said'))")

    def quietly(self, source: str) -> str:
        """Run code that no notebook has; what it prints. Raises SandboxError."""
        try:
            reply = KernelSession.candidate(self, STUCK, do="run", source=source, aside=True)
        except Died as death:
            raise SandboxError(f"the kernel '{self.spec.display_name}' does not work: {death}") from death
        if reply["raised"]:
            raise SandboxError(f"the kernel '{self.spec.display_name}' does not work: {reply['raised']['message']}")
        return "".join(item["text"] for item in reply["outputs"] if item["output_type"] == "stream")

    def close(self) -> None:
        super().close()
        if self.pipes is not None:
            self.pipes.close()
            self.pipes = None


class Dialogue(_Talking, KernelDialogue):
    """The kernel of the notebook, and, where a test runs apart from it, the one of the examiner."""

    part = "candidate"
    probe = Probe(
        answer="stopifnot <- function(...) TRUE\nviva_probe <- function(x) 2 * x",
        names=("viva_probe",),
        passes="stopifnot(viva_probe(2) == 4)",
        fails="stopifnot(viva_probe(2) == 5)",
    )
    serving = ""
    """The number of the request that has it answer questions."""
    asked_for = ""
    """The text of the test that asks."""
    odd = False
    """Whether it was given what does not cross."""

    def _await_start(self) -> None:
        self.examining: _Examiner | None = None
        self.empty: dict[str, None] = {}
        """What it was given that is empty, or has an empty part at which the test looked."""
        self.owned: set[str] = set()
        self.fresh: set[str] = set()
        self.stale = True
        self.known: dict[str, str] | None = None
        """What the rehearsal has learnt; None in it."""
        try:
            if self.second:
                self.examining = _Examiner(self, self.second)
            super()._await_start()
            self.load()
            if self.examining:
                self.examining.ready()
        except BaseException:
            if self.examining:
                self.examining.close()
            raise

    def close(self) -> None:
        if getattr(self, "examining", None):
            self.examining.close()  # type: ignore[union-attr]
            self.examining = None
        super().close()

    def changed(self) -> set[str]:
        try:
            return set(json.loads(self.quietly("getOption('viva')$changed()")))
        except (SandboxError, ValueError):
            return set()

    def why_single(self, source: str) -> Note | None:
        if why := why_single(source):
            return why
        defined = sorted(plaincode.defined(source, "r"))
        if not defined:
            return None
        listed = ", ".join(map(_literal, defined))
        return Note("patches") if json.loads(self.quietly(f"getOption('viva')$base(c({listed}))") or "[]") else None

    def mistakes(self, solution: str) -> tuple[list[Slip], list[Degenerate]]:
        found = json.loads(self.quietly(f"(\n{MISTAKES.strip()}\n)({_literal(solution)})"))
        slips = [Slip(**slip) for slip in found["mutants"]]
        return slips, [Degenerate(**answer) for answer in found["nothing"]]

    def examiner(self, within: float, **request: Any) -> dict:
        match request["do"]:
            case "own":
                self.fresh |= set(request["names"])
                self.owned |= self.fresh
            case "ran":
                self.stale = True
            case "prepare":
                self.known = request["kinds"]
            case "finish":
                self._define(str(request["shown"]))
            case "given" if self.examining:
                with contextlib.suppress(Died, SandboxError):
                    KernelSession.candidate(self.examining, within, do="run", source=request["source"])
                    self.examining.hear()
                self.stale = True
        return {"error": ""}

    def candidate(self, within: float, **request: Any) -> dict:
        cell = str(request.get("test", ""))
        if not cell or not self.examining or cell in self.single:
            reply = super().candidate(within, **request)
            return with_reason(reply) if cell else reply
        self.limit, self.interrupted = self.time_budget.granted(within), False
        source, before = str(request["source"]), self.time_budget.spent
        self.asked_for, self.odd, self.empty = source, False, {}
        clock = TimeBudget()
        self.examining.time_budget = clock
        try:
            if self.stale or self.fresh:
                self._begin()
            reply = KernelSession.candidate(self.examining, self.limit, do="run", source=source)
            self.examining.hear()
            self.interrupted = self.examining.interrupted
            self._look_at_answers(cell, bool(reply["raised"]))
            return with_reason(reply)
        except Died:
            self.gone = True
            raise
        finally:
            self.time_budget.spend(max(0.0, clock.spent - (self.time_budget.spent - before)))
            if not self.gone:
                self._rest()

    def _look_at_answers(self, cell: str, lost: bool) -> None:
        """A test that an answer lost which does not cross, or that passes with an empty one, is left to a grader."""
        if lost and self.odd:
            self.doubts.append(Note("refused_unseen", tests=(cell,), doubt=True))
        for name in () if lost else self.empty:
            key = f"{EMPTY}{cell} {name}"
            if self.known is None:
                self.kinds[key] = NOTED
            elif key not in self.known:
                self.doubts.append(note("passes_empty", name, tests=(cell,), doubt=True))
                return

    def _begin(self) -> None:
        """Let the examiner know which names the student has."""
        assert self.examining is not None
        names = self.examining.names(sorted(self.owned))
        listed = [", ".join(map(_literal, sorted(each))) for each in (self.fresh, names)]
        self.examining.quietly(f"getOption('viva')$begin(as.character(c({listed[0]})), as.character(c({listed[1]})))")
        self.fresh, self.stale = set(), False

    def _rest(self) -> None:
        """End the answering."""
        if self.serving:
            with contextlib.suppress(TimeoutError):
                self._piped.write(None)
            self._wait(self.serving, Outputs(), STUCK)
            self.serving = ""

    def _define(self, shown: str) -> None:
        """Let the cells below have what the visible lines of a test load and define."""
        if self.examining and FOR_BELOW.search(shown) and len(shown) < MOST_TEXT:
            with contextlib.suppress(SandboxError, Spent):
                self.quietly(f"getOption('viva')$define({_literal(shown)})")

    @property
    def _piped(self) -> Pipes:
        assert self.pipes is not None
        return self.pipes

    def look(self) -> None:
        """Raises Died where the candidate is gone, or takes too much."""
        self._look(False)

    def interrupt(self) -> None:
        self._interrupt()

    def ask(self, question: dict) -> None:
        """Hand the kernel a question. Raises TimeoutError."""
        if not self.serving:
            content = {"silent": True, "store_history": False, "allow_stdin": False, "user_expressions": {}}
            self.serving = self._send("execute_request", content | {"code": "getOption('viva')$serve()"})
        self._piped.write(question)

    def left(self) -> bool:
        """Whether the kernel has stopped answering."""
        messages = self._messages(0)
        if self.serving and any(kind == "execute_reply" and parent == self.serving for _, kind, parent, _ in messages):
            self.serving = ""
            return True
        return False


class _Examiner(_Talking):
    """The kernel that runs the tests; questions go to the candidate, and its answers come back."""

    part = "examiner"

    def __init__(self, student: Dialogue, second: Second) -> None:
        self.student, self.asking = student, False
        self.heard: dict | None = None
        self.about = ""
        self.tests, self.data = second.data and second.data / FOR_TESTS, second.data
        super().__init__(
            student.spec, second.folder, second.data, None, None, second.limits, second.readable, second.slot
        )

    def _start(self, *place: Any) -> None:
        if self.tests and self.tests.is_dir():
            copy_data(self.tests, self.scratch)
        super()._start(*place)

    def _await_start(self) -> None:
        """Nobody waits here: the candidate starts meanwhile."""

    def ready(self) -> None:
        """Wait until it has started."""
        super()._await_start()
        self.load()
        self.listens = {self._from_test.said: self.hear, self.student._piped.said: self._answer}

    @property
    def _from_test(self) -> Pipes:
        assert self.pipes is not None
        return self.pipes

    def names(self, names: list[str]) -> list[str]:
        """Those of the names that the candidate has. Raises Died."""
        if not names:
            return []
        self.heard, self.asking = None, True
        self._hand({"do": "names", "names": names})
        waited = 0.0
        while self.heard is None:
            self._messages(0.05)
            waited += 0.05
            self._look(False)
            if waited > STUCK:
                raise Died(Verdict.TIMEOUT, Note("unfinished_code", amount=STUCK))
        found = self.heard.get("names")
        return [name for name in names if isinstance(found, list) and name in found]

    def hear(self) -> None:
        """Read all that it has said: what it tells awaits no answer, so a question may stand behind it."""
        while self._question():
            pass

    def _question(self) -> bool:
        """A line that the test asks, or tells; whether there was one."""
        if (line := self._from_test.read()) is None:
            return False
        question = json.loads(line)
        if question["do"] == "nothing":
            self._has_nothing(f"a part of {question['name']}" if question["name"] else self.about)
            return True
        if "args" in question:
            question["args"] = checked(question["args"])
        self.heard, self.asking = {}, True
        self.about = f"{question['name'] or 'a function'}{'()' * (question['do'] == 'call')}"
        self._hand(question)
        return True

    def _has_nothing(self, name: str) -> None:
        if name.removeprefix("a part of ") not in {known.removesuffix("()") for known in self.student.empty}:
            self.student.empty[name] = None

    def _hand(self, question: dict) -> None:
        try:
            self.student.ask(question)
        except TimeoutError:
            raise Died(Verdict.KILLED, Note("killed_kernel")) from None

    def _answer(self) -> None:
        """A line that the candidate says."""
        try:
            line = self.student._piped.read()
            if line is None or not self.asking:
                return
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = {"odd": "a value that cannot be read"}
        self.asking = False
        if self.heard is None:
            self.heard = said if isinstance(said, dict) else {}
        else:
            told = _plain(said, self.student.asked_for)
            self.student.odd |= ODD in told
            if "value" in told and is_empty(told["value"]):
                self._has_nothing(self.about)
            self._from_test.write(told)

    def _look(self, replied: bool) -> None:
        try:
            super()._look(replied)
        except Died as death:
            raise Died(Verdict.KILLED, Note("answer_ended")) from death
        if self.asking:
            self.student.look()
            if self.student.left():
                self.asking = False
                self._from_test.write(_fault("the function ended without a result"))

    def _efforts(self) -> list:
        return [*super()._efforts(), *self.student._efforts()]

    def _interrupt(self) -> None:
        self.interrupted = True
        if self.asking:
            self.student.interrupt()
        else:
            super()._interrupt()


def _literal(text: str) -> str:
    """A text as R writes it: it knows no character of two numbers, as JSON would write one."""
    return json.dumps(text, ensure_ascii=False)


def _odd(what: str) -> dict:
    return _fault(f"the answer cannot be given to the test: it has {what} in it") | {ODD: True}


def _fault(message: str, classes: tuple[str, ...] = ()) -> dict:
    return {"error": {"message": message, "classes": [*classes, "simpleError", "error", "condition"]}, "printed": ""}


def _plain(said: object, test: str) -> dict:
    """What the candidate said, as far as it is plain; of the classes of its errors those that the test names."""
    if not isinstance(said, dict):
        return _odd("a value that cannot be read")
    printed, signals = said.get("printed"), said.get("signals")
    shown: dict[str, Any] = {"printed": printed if isinstance(printed, str) else ""}
    shown["signals"] = (
        [
            [kind, text]
            for kind, text in (pair for pair in signals if isinstance(pair, list) and len(pair) == 2)
            if kind in ("warning", "message") and isinstance(text, str)
        ]
        if isinstance(signals, list)
        else []
    )
    match said:
        case {"interrupted": True}:
            return _fault("the time limit was reached")
        case {"error": {"message": str(message), "classes": list(classes)}}:
            known = tuple(
                name
                for name in classes
                if isinstance(name, str) and not FORBIDDEN.search(name) and (f'"{name}"' in test or f"'{name}'" in test)
            )
            return shown | _fault(message, known) | {"printed": shown["printed"]}
        case {"odd": str(what)}:
            return shown | _odd(what)
        case {"value": dict(tree)}:
            try:
                return shown | {"value": checked(tree)}
            except UnreadableError as error:
                return shown | _odd(f"a value that is not plain data ({error})")
    return _odd("a value that cannot be read")
