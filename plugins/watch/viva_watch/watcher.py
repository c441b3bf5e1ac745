"""The loop: look, plan, do a round, remember, and wait for a change."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.exc import DBAPIError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader
from watchfiles import watch

from viva import wording
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.database import trouble
from viva.course.deadlines import moment
from viva.course.deadlines.concessions import Concessions
from viva.course.deadlines.policy import LatePolicy
from viva.course.gradebook import lateness
from viva.course.grading.batch import cores, gradable
from viva.course.processes import leftovers, stopping
from viva.submission.submission import Ending, Status, Submission
from viva.verdict import CourseError, Verdict, VivaError
from viva_watch import memory, schedule
from viva_watch.arrivals import Arrivals, arrived
from viva_watch.memory import Event, Memory, TrialClock
from viva_watch.rounds import VISIBLE, Listing, Rounds, key_of
from viva_watch.schedule import FULL, Arrival, Key, Plan, Task
from viva_watch.sights import Inbox, Ready, Seen
from viva_watch.terms import Clock, Watch

LOCK = "watch.lock"
AGAIN = 60.0
"""Seconds until what failed for a reason of the machine's, or of the course's, is tried again."""
OPEN = 60.0
"""The seconds in which a round starts submissions; then other commands have their turn."""
MOST_PASSED = 100
"""The most submissions that were left out and are listed."""
AT_ONCE = 4
"""The submissions for each worker that a round starts at once."""
PAUSE = 1.0
"""Seconds between two looks of a round, after one that found nothing."""
MOST_ROUNDS = 500
"""After so many the watcher begins anew, as a new process: whatever a library keeps is gone."""
PAGES = {VISIBLE: "visible checks", "score": "the score", FULL: "everything"}
"""What the page of a graded submission shows."""
ENDLESS = (Verdict.TIMEOUT, Verdict.KILLED)


class Renewal(Exception):  # noqa: N818
    """The watcher is to begin anew, with what the configuration says now."""


@dataclass(frozen=True)
class Look:
    """What lay there when the watcher looked, and what is to be done about it."""

    submissions: dict[Key, Submission]
    arrivals: list[Arrival]
    due: dict[Key, datetime | None]
    plan: Plan


def _reason(error: VivaError | OSError | DBAPIError, gradebook: str) -> str:
    """A sentence for what stopped a look or a round; ``gradebook`` is its address."""
    if isinstance(error, DBAPIError):
        return trouble(error, gradebook)
    if isinstance(error, OSError):
        path = f" ({error.filename})" if error.filename else ""
        return f"The watcher could not read or write a file: {error.strerror or error}{path}. It tries again."
    return str(error)


class Watcher:
    """Grades what arrives, until it is stopped."""

    def __init__(
        self,
        course: Course,
        config: Config,
        assignments: list[str],
        *,
        workers: int | None = None,
        report: Callable[[list[str]], object] = lambda assignments: None,
        configured: Iterable[Path] = (),
        write: Callable[[str], object] = print,
        tell: Callable[[Memory], object] = lambda memory: None,
    ) -> None:
        """``report`` writes the class report about assignments; when a file of ``configured`` changes, ``run`` raises
        Renewal; ``write`` is given the lines of the log, and ``tell`` what is remembered, after each look. Raises
        CourseError for invalid settings."""
        self.course, self.config, self.assignments = course, config, assignments
        self.policy, self.lateness = Watch(config=config), LatePolicy(config=config)
        self.policy.check(course.assignments())
        self.terms = {name: self.policy.terms(name) for name in assignments}
        self.workers, self.report, self.write, self.tell = workers, report, write, tell
        self.rounds = Rounds(course, config, workers, self._say)
        self.arrivals, self.inbox = Arrivals(self.policy.settle), Inbox(self.policy.settle)
        self.left: dict[str, str] = {}
        """By name, what was passed over in the exchange when the others were collected, and why."""
        self.memory = Memory.read(course.root)
        self.clock = self._clock()
        self.memory.pid, self.memory.started, self.memory.graded = os.getpid(), memory.now(), 0
        self.configured = list(configured)
        self.settings = self._settings()
        self.blocked: dict[str, float] = {}
        """By assignment that cannot be graded at all, until when it is left alone."""
        self.refused: dict[Key, float] = {}
        """By place of which the exchange could not be used, until when it is left alone."""
        self.apart = False
        """Whether each assignment has rounds of its own, as a round of several failed: one keeps no other from it."""
        self.more = False
        """Whether something arrives that is not complete."""
        self.next: datetime | None = None
        """When there is more to do."""
        self.done = 0

    def _clock(self) -> Clock:
        """The clock of the machine; or that of a trial, which goes on where the last watcher's was."""
        if not self.policy.begins:
            if self.memory.trial is not None:
                self.memory.trial, self.memory.exchange = None, Seen()
            return Clock()
        begins, speed = moment.parse(self.policy.begins, self.lateness.place), self.policy.speed
        trial = self.memory.trial
        if trial is None or (trial.begins, trial.speed) != (begins, speed):
            trial = self.memory.trial = TrialClock(begins, speed, time.time())
            self.memory.exchange = Seen()  # by another clock
        return Clock(begins, speed, trial.started)

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Watch until it is stopped, or ``until`` says so between two rounds. Raises Renewal, and CourseError where
        another watcher works."""
        lock = os.open(self.course.root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if not leftovers.take(lock, self.course.root / LOCK):
                raise CourseError(
                    f"Another 'viva watch' is running for {self.course.root}. To see its state: viva watch --status"
                )
            self.course.path("submitted", ".").mkdir(exist_ok=True)
            self.log("started", before={name: terms.before for name, terms in self.terms.items()})
            while not until():
                stopping.check()
                try:
                    busy = self.step()
                except (VivaError, OSError, DBAPIError) as error:  # a list that cannot be read, or a full disk
                    self._fail(_reason(error, self.course.directory.db_url))
                    self.more, self.next, busy = False, None, False
                if not busy:
                    self._wait()
                swept = not Path(tempfile.gettempdir()).is_dir()  # by somebody who tidies up old files
                if self.done >= MOST_ROUNDS or swept or self._is_changed():
                    raise Renewal
        finally:
            os.close(lock)

    def step(self) -> bool:
        """Look, and do one round; whether there was anything to do."""
        seen = self._look()
        for key in [key for key, past in self.memory.pasts().items() if past.unreleased]:
            self._hand_out(key)
        if seen.plan.todo:
            self._do(seen)
        self._report(seen.arrivals, seen.due)
        self._remember()
        return bool(seen.plan.todo)

    def _look(self, grading: Container[Key] | None = None) -> Look:
        """See what lies there, and plan; during a round, ``grading`` has what is being graded."""
        if self.policy.collect:
            self._collect(grading)
        now = self.clock()
        submissions, arrivals, self.more = arrived(self.course, self.assignments, self.arrivals, now)
        due = self._due(arrivals)
        open_ = {name: terms for name, terms in self.terms.items() if self.blocked.get(name, 0) <= time.monotonic()}
        plan = schedule.plan(arrivals, self.memory.pasts(), open_, due, now)
        self.memory.waiting, self.memory.later, self.memory.looked = len(plan.todo), plan.at, memory.now()
        self.next = plan.at
        return Look(submissions, arrivals, due, plan)

    def _remember(self) -> None:
        self.memory.write(self.course.root)
        self.tell(self.memory)

    def _do(self, seen: Look) -> None:
        """Grade what is next in a plan, and what is next then, until nothing is or the round was open long enough."""
        visible = seen.plan.todo[0].kind == VISIBLE
        names = {task.arrival.key[0] for task in seen.plan.todo if (task.kind == VISIBLE) is visible}
        if self.apart:
            names = {seen.plan.todo[0].arrival.key[0]}
        if not (names := self._gradable(names)):
            return
        chosen: dict[Key, tuple[Task, datetime | None]] = {}
        kinds: dict[Key, str] = {}
        begun, looked = time.monotonic(), -math.inf

        def take(seen: Look) -> list[Submission]:
            """The next of a plan, of students of whom nothing is being graded."""
            fits = [
                task for task in seen.plan.todo if task.arrival.key[0] in names and (task.kind == VISIBLE) is visible
            ]
            tasks = [task for task in fits if task.arrival.key not in chosen][
                : AT_ONCE * cores(self.workers, sys.maxsize)
            ]
            chosen.update({task.arrival.key: (task, seen.due.get(task.arrival.key)) for task in tasks})
            kinds.update({task.arrival.key: task.kind for task in tasks})
            return [seen.submissions[task.arrival.key] for task in tasks]

        def more() -> list[Submission]:
            nonlocal begun, looked
            now = time.monotonic()
            if now > begun + OPEN or now < looked + PAUSE:
                return []
            try:
                submissions = take(self._look(chosen))
            except VivaError as error:  # a list that cannot be read, for example
                self._fail(str(error))
                begun, submissions = -math.inf, []
            looked = -math.inf if submissions else now
            return submissions

        self.done += 1
        try:
            with contextlib.closing(self.rounds.grade(take(seen), kinds, names, more)) as groups:
                for endings in groups:
                    for ending in endings:
                        task, due = chosen.pop(key_of(ending))
                        self._note(task, ending, due)
                    self._remember()
        except (VivaError, OSError, DBAPIError) as error:
            reason = _reason(error, self.course.directory.db_url)
            if len(names) > 1:
                self.apart = True
                self._fail(reason)
            else:
                self._block(min(names), reason)

    def _gradable(self, names: Iterable[str]) -> set[str]:
        """The assignments that can be graded; others are left alone for a while, and keep no other from it."""
        released, _, refused = gradable(self.course, names)
        for name, error in refused.items():
            self._block(name, str(error))
        return set(released)

    def _block(self, assignment: str, reason: str) -> None:
        self.blocked[assignment] = time.monotonic() + AGAIN
        self._fail(reason, assignment)

    def _note(self, task: Task, ending: Ending, due: datetime | None) -> None:
        """Remember what became of a submission, and hand its page out."""
        key, now = key_of(ending), self.clock()
        past = self.memory.past(key)
        if ending.status is Status.FAILED:
            past.note_failure(now)
            self._fail(ending.reason, *key)
            return
        slow = any(verdict in ENDLESS for verdict in ending.verdicts)
        past.note(task.arrival.digest, task.kind, now, due=due is not None and now >= due, slow=slow)
        past.unreleased = self.policy.release
        seconds = round((now - task.arrival.since).total_seconds() / self.policy.speed, 2)
        self.memory.graded += 1
        result = "refused" if ending.status is Status.REFUSED else f"graded; the feedback page shows {PAGES[task.kind]}"
        self.memory.tell(Event(memory.now(), result, *key, seconds))
        verdicts = {str(verdict): ending.verdicts.count(verdict) for verdict in set(ending.verdicts)}
        details = {"assignment": key[0], "student": key[1], "shows": task.kind, "attempt": past.attempts}
        self.log(
            "graded", **details, seconds=seconds, status=str(ending.status), reason=ending.reason, verdicts=verdicts
        )
        self._hand_out(key)

    def _hand_out(self, key: Key) -> None:
        """Release a page to the exchange, where it is owed to its student."""
        past = self.memory.past(key)
        if past.unreleased and self.refused.get(key, 0) <= time.monotonic():
            problem = self.rounds.hand_out(key)
            past.unreleased = bool(problem)
            if problem:
                self._refuse(key, problem)

    def _refuse(self, key: Key, problem: str) -> None:
        self.refused[key] = time.monotonic() + AGAIN
        self._fail(problem, *key)

    def _report(self, arrivals: list[Arrival], due: dict[Key, datetime | None]) -> None:
        """Write the class report about assignments that are due and graded, once for each due time."""
        for name in self.assignments:
            ends = [due[arrival.key] for arrival in arrivals if arrival.key[0] == name]
            last = max(filter(None, ends), default=None)
            if not last or None in ends or self.clock() < last or self.memory.reported.get(name) == last:
                continue
            if schedule.over(name, arrivals, self.memory.pasts()):
                try:
                    self.report([name])
                except VivaError as error:
                    self._fail(str(error), name)
                self.memory.reported[name] = last
                self.log("reported", assignment=name)

    def _due(self, arrivals: list[Arrival]) -> dict[Key, datetime | None]:
        """When each submission is due: the configuration's time, else the gradebook's; an extension is later."""
        granted = Concessions.of(self.course.root, self.lateness.place)
        with self.course.gradebook() as gradebook:
            return lateness.deadlines(gradebook.db(), self.lateness, granted, [arrival.key for arrival in arrivals])

    def _collect(self, grading: Container[Key] | None) -> None:
        """Collect from the students of whom the exchange holds something new that is complete.

        During a round this process has the course's lock, and what it is ``grading`` stays as it is.
        """
        now, seen = self.clock(), self.memory.exchange
        if (listing := self.rounds.inbound(self.assignments)) is None:
            return
        pasts = self.memory.pasts()
        full = {key: past.at for key, past in pasts.items() if past.kind == FULL and past.at}
        ready = self.inbox.look(listing.entries, listing.survey, seen, now, full, self.policy.speed)
        fresh = {
            key: submissions
            for key, submissions in ready.items()
            if self.refused.get(key, 0) <= time.monotonic() and key not in (grading or ())
        }
        if fresh:
            self._take(fresh, alone=grading is not None)
        self._pass_over(listing)

    def _take(self, fresh: dict[Key, Ready], alone: bool) -> None:
        problems, passed = self.rounds.collect(fresh, alone)
        self.left |= passed
        for key, submissions in fresh.items():
            if key in problems:
                self._refuse(key, problems[key])
                continue
            if submissions.fresh & passed.keys():
                self.refused[key] = time.monotonic() + AGAIN
            self.inbox.take(self.memory.exchange, key, submissions.fresh - passed.keys())
            for name in (submissions.fresh & submissions.counted.keys()) - passed.keys():
                reason = f"{plaintext.quoted(name)} {wording.sentence(submissions.counted[name].note())}."
                self.memory.tell(Event(memory.now(), reason, *key), self.memory.dated_back)
                self.log("dated_back", assignment=key[0], student=key[1], reason=reason)
        done = [
            key for key, submissions in fresh.items() if key not in problems and not submissions.fresh <= passed.keys()
        ]
        if done:
            self.log("collected", submissions=len(done))

    def _pass_over(self, listing: Listing) -> None:
        """Tell once what is passed over in the exchange, and keep it for the status while it lies there."""
        places = {entry.path.name: key for key, submissions in listing.entries.items() for entry in submissions}
        self.left = {name: reason for name, reason in self.left.items() if name in places}
        refused = {name: reason for name, (_, reason) in self.inbox.refused.items()} | self.left
        now = {name: (places[name], reason) for name, reason in refused.items()} | listing.passed
        earlier, self.memory.passed = self.memory.passed, {}
        for name, (key, reason) in list(now.items())[:MOST_PASSED]:
            event = earlier.get(name)
            sentence = f"{plaintext.quoted(name)} in the exchange was skipped: {reason}."
            if event is None or event.what != sentence:
                event = Event(memory.now(), sentence, plaintext.line(key[0]), plaintext.line(key[1]))
                self.log("passed_over", assignment=event.assignment, student=event.student, reason=sentence)
            self.memory.passed[name] = event

    def _wait(self) -> None:
        """Wait until something changes, until there is more to do, or until it is time to look again."""
        end = time.monotonic() + (min(1.0, self.policy.every) if self.policy.polling else self.policy.every)
        if self.more or (self.policy.collect and self.inbox.more):
            end = min(end, time.monotonic() + self.policy.settle / 2)
        if self.next:
            seconds = (self.next - self.clock()) / timedelta(seconds=1) / self.policy.speed
            end = min(end, time.monotonic() + max(0.05, seconds))
        if self.policy.polling:
            while time.monotonic() < end:
                stopping.check()
                time.sleep(max(0.0, min(0.2, end - time.monotonic())))
            return
        paths = [self.course.path("submitted", "."), *self._inbound_folder()]
        with contextlib.closing(
            watch(*paths, debounce=100, step=50, rust_timeout=200, yield_on_timeout=True, ignore_permission_denied=True)
        ) as changes:
            try:
                for change in changes:
                    stopping.check()
                    if change or time.monotonic() >= end:
                        return
            except (OSError, RuntimeError) as error:  # there is no inotify, or too few watches
                self.policy.polling = True
                self.log("polling", reason=str(error))

    def _inbound_folder(self) -> list[Path]:
        folder = self.rounds.inbound_folder()
        return [folder] if self.policy.collect and folder.is_dir() else []

    def _is_changed(self) -> bool:
        """Whether the configuration was changed, and can be read; with one that cannot the watcher goes on."""
        if (now := self._settings()) == self.settings:
            return False
        self.settings = now
        for path in filter(Path.is_file, self.configured):
            try:
                PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
            except Exception as error:  # it is code, and may raise anything
                self._fail(
                    f"{path} was changed but cannot be read: {error}. The watcher continues with the old settings."
                )
                return False
        return True

    def _settings(self) -> tuple:
        """What tells whether the configuration was changed."""
        files = []
        for path in self.configured:
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(files)

    def _fail(self, reason: str, assignment: str = "", student: str = "") -> None:
        self.memory.tell(Event(memory.now(), reason, assignment, student), self.memory.errors)
        self.log("failed", assignment=assignment, student=student, reason=reason)

    def _say(self, sentence: str) -> None:
        self.log("told", reason=sentence)

    def log(self, event: str, **details: object) -> None:
        """Write a line of JSON."""
        filled = {name: value for name, value in details.items() if value not in ("", None)}
        self.write(json.dumps({"at": memory.now().isoformat(), "event": event} | filled))
