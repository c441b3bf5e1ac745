"""A candidate and an examiner, connected: started, asked, interrupted, ended.

Whoever drives them trusts the examiner and believes the candidate nothing but its own cells' outputs.
"""

from __future__ import annotations

import contextlib
import copy
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from viva import wording
from viva.cleaning import plaintext
from viva.engine import pipe, wire
from viva.engine.dialogue.exceptions import safe
from viva.engine.libraries import COMMON
from viva.engine.parent import Channel, Effort, Role, begin
from viva.engine.timebudget import TimeBudget
from viva.folder import FOR_TESTS, OURS, SOLVED, remove, walk
from viva.record import Note, note
from viva.sandbox.confinement import LARGER, USUAL, Claims, Limits, Sandbox, overflowing
from viva.verdict import SandboxError, Verdict, WireError

GRACE = 1.0
"""Seconds between the interrupt and the kill."""
PROMPT = 0.1
"""Seconds in which most answers are there; nobody asks before whether the machine is busy."""
STRETCH = 20
"""The grader waits at most so many times as long where others keep the processor busy: what is stuck ends."""
WATCH = 0.25
"""Seconds between two looks into a scratch folder."""
STUCK = 10.0
"""Seconds that an examiner may take beyond its cell's time."""


class Died(Exception):  # noqa: N818
    """The candidate ended, or had to be ended; ``check`` says that it did so at a check, and not before it."""

    def __init__(self, verdict: Verdict, cause: Note, check: bool = False) -> None:
        super().__init__(wording.sentence(cause))
        self.verdict, self.cause, self.check = verdict, cause, check


class ExaminerFault(Exception):  # noqa: N818
    """The examiner itself failed; the fault is the grader's. ``log`` is the traceback, where there is one."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class ExaminerBusy(ExaminerFault):
    """A test computes on in C code, which heeds no interrupt."""


class Session:
    """A candidate and an examiner, connected; close it to end both and remove the scratch folder."""

    one_process = False
    """Whether the tests run beside the student's code, as in an ordinary kernel (``viva_check.kernel``)."""

    def __init__(
        self,
        candidates: Channel,
        examiners: Channel,
        data: Path | None = None,
        files: Path | None = None,
        time_budget: TimeBudget | None = None,
        alone: bool = False,
    ) -> None:
        """Both find the files of ``data`` in their folders; the candidate those of ``files`` instead, if given.

        The examiner finds those for tests too, and so does a candidate that is ``alone``: it runs the author's tests.
        Of other notebooks the candidate finds those of the same person, the author or the student.
        """
        self.time_budget = time_budget or TimeBudget()
        self.interrupted = False
        """Whether the time of the last request was over before its answer came."""
        self.limit = 0.0
        """The time limit of the last request."""
        self.begun: dict[str, bytes] = {}
        """The candidate's message about the random numbers from which a read-only cell began, by cell."""
        self.efforts: list[Effort] = []
        """The work of the two processes when they were last looked at."""
        self.unseen = 0.0
        """Seconds that were spent since then, all of them: of the first ones of a step nobody asks."""
        self.candidates, self.examiners = candidates, examiners
        # One for each: a scratch folder belongs to a single process.
        self.scratches = [parent.scratch() for parent in (candidates, examiners)]
        for folder, scratch, tests in zip((files or data, data), self.scratches, (alone, True), strict=True):
            if folder is not None:
                copy_data(folder, scratch, data)
            if data is not None and tests and (data / FOR_TESTS).is_dir():
                copy_data(data / FOR_TESTS, scratch)
        if (own := files or data) and (own / SOLVED).is_dir():
            copy_data(own / SOLVED, self.scratches[0])
        self.pids: dict[Channel, int] = {}
        self.open: list[int] = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        null, out, err = os.open(os.devnull, os.O_RDWR), os.memfd_create("out"), os.memfd_create("err")
        to_candidate, self.question = os.pipe()
        self.answer, from_candidate = os.pipe()
        to_examiner, self.request = os.pipe()
        self.reply, from_examiner = os.pipe()
        self.open = [self.question, self.answer, self.request, self.reply]
        theirs = [null, out, err, to_candidate, from_candidate, to_examiner, from_examiner]
        try:
            self.pids[self.candidates] = self.candidates.fork(
                [null, out, err, to_candidate, from_candidate], self.scratches[0], self.time_budget.left
            )
            self.pids[self.examiners] = self.examiners.fork(
                [null, null, null, to_examiner, from_examiner, self.question, self.answer],
                self.scratches[1],
                self.time_budget.left,
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        for descriptor in (self.answer, self.reply):
            try:
                ready = wire.decode(pipe.read(descriptor, timeout=20))
            except (EOFError, TimeoutError, WireError) as error:
                raise SandboxError(f"a process did not start: {error}") from error
            if ready != {"ready": True}:
                raise SandboxError(ready["fault"])

    def close(self) -> None:
        for parent, pid in self.pids.items():  # both at once: freeing a large memory takes a while
            with contextlib.suppress(OSError, SandboxError):
                parent.signal(pid, signal.SIGKILL)
        for parent, pid in self.pids.items():
            with contextlib.suppress(OSError, SandboxError):
                parent.end(pid)
        self.pids.clear()
        for descriptor in self.open:
            os.close(descriptor)
        self.open = []
        for scratch in self.scratches:
            remove(scratch)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def candidate(self, within: float, **request: object) -> dict:
        """The candidate's reply to a request. Raises Died, and Spent when the submission's time is over."""
        self._begin(within)
        try:
            with self._passing():
                pipe.write(self.question, wire.encode(request), timeout=STUCK)
            if not self._readable(self.answer, self.limit):
                self._interrupt(self.candidates)
                self.interrupted = True
                if not self._readable(self.answer, GRACE):
                    raise Died(Verdict.TIMEOUT, Note("unfinished_code", amount=self.limit))
            reply = self._answered()
        except (EOFError, BrokenPipeError):
            raise Died(Verdict.KILLED, Note("killed")) from None
        except (WireError, TimeoutError) as error:
            raise Died(Verdict.KILLED, note("unreadable", str(error))) from None
        if not isinstance(reply, dict) or "refused" in reply:
            raise Died(Verdict.KILLED, note("unreadable", plaintext.quoted(safe(str, reply))))
        return reply

    def _answered(self) -> object:
        """The candidate's reply, which has begun to come; it pays for the work of reading it."""
        with self._passing():
            data = pipe.read(self.answer, timeout=STUCK)
        with self.time_budget.working():
            return wire.decode(data, simple=True)

    @contextlib.contextmanager
    def _passing(self) -> Iterator[None]:
        """Spend the time in which a message goes to the candidate or comes from it, maybe drop by drop."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.time_budget.spend(time.monotonic() - start)

    def examiner(self, within: float, **request: object) -> dict:
        """The examiner's reply to a request. Raises ExaminerFault; after ExaminerBusy the candidate is gone.

        Raises Spent when the submission's time is over.
        """
        self._begin(within)
        try:
            pipe.write(self.request, wire.encode(request), timeout=STUCK)
            reply = self._told(within)
        except (EOFError, BrokenPipeError, WireError, TimeoutError) as error:
            raise ExaminerFault(f"the process of the tests stopped: {error}") from error
        if "fault" in reply:
            raise ExaminerFault(reply["fault"], reply["log"])
        return reply

    def _begin(self, within: float) -> None:
        self.limit, self.interrupted = self.time_budget.granted(within), False

    def _told(self, within: float) -> dict:
        """The reply of the examiner. Once it says that it asks for something slow, its time is short."""
        left = self.limit
        while True:
            if not self._readable(self.reply, left):
                self._interrupt(self.candidates)
                self.interrupted = True
                if not self._readable(self.reply, GRACE):
                    self._interrupt(self.examiners)  # heeded where the test computes; what it was told can keep it busy
                    if not self._readable(self.reply, GRACE):
                        self._end_candidate()
                        if not self._readable(self.reply, STUCK):
                            raise ExaminerBusy(f"a test cell did not finish in {self.limit + STUCK:g} seconds")
            reply = wire.decode(pipe.read(self.reply, timeout=STUCK))
            if "asks" not in reply:
                return reply
            if not self.interrupted:
                self.limit = left = min(left, self.time_budget.granted(self.time_budget.short(within)))

    def _readable(self, descriptor: int, seconds: float) -> bool:
        """Wait for an answer, for so many seconds in which the machine lets the two processes work; those are spent.

        Where no tmpfs limits the scratch folder, a candidate that fills it is ended.
        """
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        start, now, sandbox = time.monotonic(), None, self.candidates.sandbox
        watched = None if sandbox is None or sandbox.private_tmp else sandbox.limits
        ready, took = poll.poll(min(PROMPT, seconds) * 1000), time.monotonic() - start
        while not ready and took < seconds:
            if watched and overflowing(self.scratches[0], watched):
                self._end_candidate()
            rest = seconds - took
            ready = poll.poll((min(WATCH, rest) if watched else rest) * 1000)
            passed = time.monotonic() - start
            now = self._efforts()
            took = max(time_taken(self.unseen + passed, self.efforts, now) - self.unseen, passed / STRETCH)
        self.efforts, self.unseen = (self.efforts, self.unseen + took) if now is None else (now, 0.0)
        self.time_budget.spend(took)
        return bool(ready)

    def _efforts(self) -> list[Effort]:
        """The work of the two processes until now."""
        efforts = []
        for parent, pid in self.pids.items():
            with contextlib.suppress(SandboxError):
                efforts.append(parent.effort(pid))
        return efforts

    def _interrupt(self, parent: Channel) -> None:
        if pid := self.pids.get(parent):
            with contextlib.suppress(SandboxError):
                parent.signal(pid, signal.SIGINT)

    @property
    def gone(self) -> bool:
        """Whether the candidate was ended."""
        return self.candidates not in self.pids

    def was_shot(self) -> bool:
        """End the candidate, if it has not ended; whether it was a SIGKILL that ended it, and not its own code."""
        status = self._end_candidate()
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def status(self) -> int | None:
        """End the candidate, if it has not ended: its wait status, None where it was ended before."""
        return self._end_candidate() if self.candidates in self.pids else None

    def _end_candidate(self) -> int:
        pid = self.pids.pop(self.candidates, None)
        return self.candidates.end(pid) if pid else 0


def time_taken(passed: float, before: list[Effort], after: list[Effort]) -> float:
    """Those of the ``passed`` seconds in which the processes did not wait for a processor.

    A process that waits for its own threads keeps itself waiting: they cannot take less than their work needs.
    """
    starts = {effort.pid: effort for effort in before}
    waited = worked = 0.0
    for effort in after:
        start = starts.get(effort.pid, Effort(effort.pid, 0.0, {}))
        waited += max((now - start.waited.get(thread, 0.0) for thread, now in effort.waited.items()), default=0.0)
        worked += effort.worked - start.worked
    return min(passed, max(passed - waited, worked / len(os.sched_getaffinity(0))))


def copy_data(source: Path, scratch: Path, data: Path | None = None) -> None:
    """The files of a folder, without links and those for tests; the smaller first, as many as there is room for.

    Of its notebooks only those that ``data`` has too, the folder of the assignment's files: a student reads no other
    that was graded.
    """
    files = [path for path in walk(source, OURS) if path.is_file() and not path.is_symlink()]
    others = source if data is None else data
    files = [path for path in files if path.suffix != ".ipynb" or (others / path.relative_to(source)).is_file()]
    room, places = Limits().scratch_bytes // 2, Limits().scratch_files // 2
    for path in sorted(files, key=lambda path: path.stat().st_size):
        target = scratch / path.relative_to(source)
        room -= path.stat().st_size
        places -= 1 if target.parent.exists() else len(target.relative_to(scratch).parts)
        if room >= 0 and places >= 0:
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # it cannot be read
                shutil.copyfile(path, target)


# --- the two fork servers of a process that grades


Found = TypeVar("Found")

OWN_PAIR = -1
"""The number of this process's own slots, beside those of its workers."""


def examiners_limits(limits: Limits) -> Limits:
    """The limits of an examiner, which computes what its candidate does and holds what that answers."""
    names = ("cpu_seconds", "memory_bytes")
    return replace(LARGER, **{name: max(getattr(LARGER, name), getattr(limits, name)) for name in names})


class Pair:
    """A fork server for candidates and one for examiners: started, shared, replaced."""

    def __init__(
        self,
        seconds: float = 30.0,
        sandboxes: tuple[Sandbox, Sandbox] | None = None,
        libraries: tuple[str, ...] = COMMON,
        hidden: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        budget: float = 0.0,
        limits: Limits = USUAL,
    ) -> None:
        """``sandboxes`` stand around candidate and examiner; without them ``limits`` are those of the candidate.

        ``libraries`` are loaded before the first submission comes, and for the examiners ``hidden`` too;
        others when they are imported. The variables of ``environment`` are set for all.
        A cell may take so many ``seconds``, and a notebook ``budget`` where it does not say itself.
        """
        self.seconds, self.sandboxes, self.budget = seconds, sandboxes, budget
        self.libraries, self.hidden, self.environment = libraries, hidden, environment
        self.sandboxed, self.limits = sandboxes is not None, limits
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_sandbox, examiner_sandbox = self.sandboxes or (None, None)
        slot, environment = self.claims.pair(OWN_PAIR), self.environment
        roles = (
            Role("candidate", candidate_sandbox, slot, self.limits),
            Role("examiner", examiner_sandbox, slot + 1, examiners_limits(self.limits)),
        )
        candidates, examiners = begin(roles, self.libraries, environment)
        self.candidates: Channel = candidates
        self.examiners: Channel = examiners
        if unloaded := [name for name in self.hidden if name not in self.libraries]:
            examiners.load(unloaded)

    def __deepcopy__(self, memo: dict) -> Self:
        return self  # a handle on processes

    def close(self) -> None:
        self._stop()
        self.claims.close()

    def _stop(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def allow(self, memory: int) -> None:
        """New fork servers, whose children may use so many bytes."""
        self.limits = replace(self.limits, memory_bytes=memory)
        if self.sandboxes:
            candidate, examiner = self.sandboxes
            limits = examiners_limits(self.limits)
            self.sandboxes = replace(candidate, limits=self.limits), replace(examiner, limits=limits)
        self.restart()

    def restart(self) -> None:
        """Replace the fork servers by new ones."""
        self._stop()
        self._start()

    def absent(self) -> dict[str, str]:
        """The libraries that could not be loaded once for all submissions, as in ``Channel.absent``."""
        with contextlib.suppress(SandboxError):  # whoever asks for a fork is told
            return self.candidates.absent() | self.examiners.absent()
        return {}

    def session(self, data: Path | None, files: Path | None, time_budget: TimeBudget) -> Session:
        """A candidate and an examiner for one submission, or what takes their place."""
        return Session(self.candidates, self.examiners, data, files, time_budget)

    def twice(self, work: Callable[[], Found]) -> Found:
        """The result of ``work``, tried once more with new fork servers after a fault of the grader."""
        try:
            return work()
        except (ExaminerFault, SandboxError):
            self.restart()
            return work()

    def share(self, number: int) -> Self:
        """A pair for another process, with the same fork servers; new ones if those have died.

        No two processes that live at the same time have the same ``number``.
        """
        try:
            return self._share(number)
        except SandboxError:
            self.restart()
            return self._share(number)

    def _share(self, number: int) -> Self:
        slot = self.claims.pair(number)
        shared = copy.copy(self)  # it owns neither the fork servers nor the claims
        shared.claims = Claims()
        shared.candidates, shared.examiners = self.candidates.channel(slot), self.examiners.channel(slot + 1)
        return shared
