"""The time budget of a submission: of all of it, of each step, and of what did not finish before.

Theory of operation. Everything that a submission makes the grader wait for is paid from one budget, and so is the work
of reading what its process replies. Each cell has its own limit as well. What did not finish in it once is not given
as long a second time: the name that the test asked for, the student's functions that were running, and every function
whose code mentions one of them are *slow* from then on and get SHORT, or a thirtieth of the limit. A name that did not
finish so often as MOST_STRIKES, or that could not even be interrupted, is *given up*: tests that ask for it are told at
once. So an endless loop costs its limit and a few seconds, and all checks that do not need it run as ever.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from viva import wording
from viva.engine import ownership
from viva.engine.outcome import CheckReport
from viva.notebook.names import names_of
from viva.record import Note, note
from viva.verdict import Verdict

LEAST, LIMITS, SOLUTIONS = 60.0, 6, 5
"""A notebook may take so many seconds in all, so many limits of a cell, or so many times as long as the solution took:
whichever is most."""
SHORT = 1.0
MOST_STRIKES = 3
FATAL = 2
"""The most times that a name may end the process that runs it."""
NOT_TRIED = ("no_time_left", "not_tried")
"""Kinds of causes: nothing was run, since the time was over before."""


class Spent(Exception):  # noqa: N818
    """The submission has used up its time; ``cause`` says on what."""

    def __init__(self, cause: Note) -> None:
        super().__init__(wording.sentence(cause))
        self.cause = cause


def budget(limits: Iterable[float], solution: float) -> float:
    """Seconds for a whole notebook whose cells have these limits, and whose solution took so long."""
    return max(LEAST, LIMITS * max(limits), SOLUTIONS * solution)


class TimeBudget:
    """The rest of the time for one submission, whose code cells have the texts ``sources``.

    With ``once`` somebody waits: when anything did not finish, all the rest together gets as long as that had.
    """

    def __init__(self, total: float = math.inf, sources: Iterable[str] = (), once: bool = False) -> None:
        self.left, self.once = total, once
        self.spent = 0.0
        """Seconds by the one clock of grading: those in which the machine let the processes work, or they waited for
        something else than a processor."""
        self.cause = Note("no_time_left", amount=total if total < math.inf else 0.0)
        """Why the time is over, once it is."""
        self.sources = tuple(sources)
        self.stopped: dict[str, float] = {}
        """The seconds after which a function was stopped the first time, by name."""
        self.slow: set[str] = set()
        self.given_up: dict[str, tuple[Verdict, Note]] = {}
        self.strikes: Counter[str] = Counter()
        self.replaying = False
        """Whether what runs has run before: then it tells nothing new."""

    @functools.cached_property
    def functions(self) -> dict[str, set[str]]:
        """The names that the code of a function of the notebook mentions, by function."""
        functions: dict[str, set[str]] = {}
        for names in filter(None, map(names_of, self.sources)):
            for name, mentioned in names.mentioned.items():
                functions.setdefault(name, set()).update(mentioned)
        return functions

    def granted(self, seconds: float) -> float:
        """The time limit of a step whose own limit is ``seconds``. Raises Spent."""
        if self.left <= 0:
            raise Spent(self.cause)
        return min(seconds, self.left)

    def spend(self, seconds: float) -> None:
        self.spent += seconds
        self.left -= seconds

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Spend what this process computes meanwhile: a submission says how much there is to read of it."""
        start = time.process_time()
        try:
            yield
        finally:
            self.spend(time.process_time() - start)

    @staticmethod
    def short(seconds: float) -> float:
        """The time limit of a slow function, if the usual limit is ``seconds``."""
        return min(seconds, max(SHORT, seconds / 30))

    def limit(self, source: str, seconds: float) -> float:
        """The time limit of code of the notebook whose own limit is ``seconds``."""
        return self.short(seconds) if self.slow and self.slow & self._uses(source) else seconds

    def hopeless(self, source: str) -> tuple[Verdict, Note] | None:
        """The verdict of code that uses a function that was given up, with the note; None for other code."""
        used = self._uses(source) if self.given_up else set()
        return next((reason for name, reason in self.given_up.items() if name in used), None)

    def words(self) -> dict[str, list[str]]:
        """The lists of functions that the examiner has to know."""
        return {"slow": sorted(self.slow), "given_up": sorted(self.given_up)} if self.slow or self.given_up else {}

    def stop(self, step: str, seconds: float) -> None:
        """Note that a ``step`` did not finish within ``seconds``."""
        if self.once:
            self.once, self.left = False, min(self.left, seconds)
            self.cause = note("not_tried", step, amount=seconds)

    def suspect(self, names: Iterable[str], seconds: float) -> None:
        """Note that these functions of the student's were running when the time was over."""
        for name in names:
            if name in self.functions:
                self.stopped.setdefault(name, seconds)
        self.slow = {name for name in self.functions if self._culprit(name)} | self.stopped.keys()

    def suspect_all(self, source: str, seconds: float) -> None:
        """The same where nobody knows what was running in this code."""
        self.suspect(sorted(self._uses(source)), seconds)

    def judge(self, report: CheckReport, interrupted: bool, seconds: float) -> None:
        """Say in an examiner's report what time has to do with it, and learn from it.

        ``interrupted`` says whether the ``seconds`` were over.
        """
        asked = report.asked
        if interrupted:
            report.verdict, report.reason, report.exception = Verdict.TIMEOUT, "", ""
            report.cause = self._explain(asked, seconds)
            self._strike(report, seconds)
        elif report.verdict is Verdict.TIMEOUT and asked in self.given_up:
            report.verdict, report.cause = self.given_up[asked]
        elif report.verdict is Verdict.TIMEOUT:
            report.verdict, report.cause, report.raised_by = Verdict.ERROR, None, "student"
            report.reason, report.exception = "KeyboardInterrupt: ", "KeyboardInterrupt"
        elif report.died and asked and not self.replaying:
            self.strikes[asked] += 1
            if self.strikes[asked] >= FATAL:
                self.given_up.setdefault(asked, (Verdict.KILLED, note("ended_twice", asked)))

    def _explain(self, asked: str, seconds: float) -> Note:
        if not asked:
            return Note("unfinished_code", amount=seconds)
        if culprit := self._culprit(asked) if asked in self.slow else "":
            return note("unfinished_again", asked, amount=seconds, because=self._before(asked, culprit))
        return note("unfinished", asked, amount=seconds)

    def _before(self, asked: str, culprit: str) -> Note:
        seconds = self.stopped[culprit]
        return (
            Note("before_itself", amount=seconds) if culprit == asked else note("before_other", culprit, amount=seconds)
        )

    def _culprit(self, name: str) -> str:
        """The function that was stopped before and is used in the code of ``name``; empty if there is none."""
        if name in self.stopped:
            return name
        used = ownership.reached({name}, self.functions)
        return next((stopped for stopped in self.stopped if stopped in used), "")

    def _strike(self, report: CheckReport, seconds: float) -> None:
        asked, running = report.asked, report.running
        if asked:
            self.stopped.setdefault(asked, seconds)
        if report.died:
            running = sorted(ownership.reached({asked}, self.functions))
        self.suspect(running, seconds)
        self.stop(asked or f"a call in '{report.title}'", seconds)
        if asked and not self.replaying:
            self.strikes[asked] += 1
        hopeless = [asked] if asked and (report.died or self.strikes[asked] >= MOST_STRIKES) else []
        if report.died:  # each would cost a process, and there are few
            hopeless += [name for name in self.functions if asked in ownership.reached({name}, self.functions)]
        for name in hopeless:
            because = self._before(name, asked)
            self.given_up.setdefault(name, (Verdict.TIMEOUT, note("not_called_again", name, because=because)))

    def _uses(self, source: str) -> set[str]:
        names = names_of(source)
        return names.used | ownership.reached(names.used, self.functions) if names else set()


def allowance(limit: float, time_budget: TimeBudget, spent: float = 0.0) -> Iterator[float]:
    """The time limits of the steps of a grade cell: the rest of its limit, then a tenth of it for every check.

    So a check that never ends costs the others of its cell nothing. ``spent`` is what the cell took in another process.
    """
    start = time_budget.spent - spent
    while True:
        yield max(limit - (time_budget.spent - start), limit / 10)
