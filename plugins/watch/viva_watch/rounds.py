"""One round: it grades submissions as `viva grade` does, writes pages, and returns them where the course wants it.

Where students read visible checks only, nothing of it is a grade: it is recorded in a gradebook that lasts as long as
the round, and pages are all that stays.
"""

from __future__ import annotations

import contextlib
import copy
import glob
import logging
import tempfile
from collections import defaultdict
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from traitlets.config import Config

from viva.course.course import Course
from viva.course.grading import batch, exchange
from viva.course.regrade.trialcopy import copy_rows
from viva.pages.feedback import DELIVERY, write_feedback
from viva.sandbox.protection import forget
from viva.submission.submission import Ending, Status, Submission
from viva.verdict import CourseError, SubmissionError
from viva_watch.schedule import Key
from viva_watch.sights import Ready

CLASS = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")
"""The tables of a gradebook that are about students."""
VISIBLE = "visible"


@dataclass
class Listing:
    """What lies in the exchange, by name."""

    survey: Callable[[exchange.Entry], exchange.Contents]
    entries: dict[Key, list[exchange.Entry]] = field(default_factory=lambda: defaultdict(list))
    """Those that their students own, by assignment and student."""
    passed: dict[str, tuple[Key, str]] = field(default_factory=dict)
    """By name, for whom the others would be, and why they are passed over."""


def key_of(ending: Ending) -> Key:
    return ending.submission.assignment, ending.submission.student


class Rounds:
    """The rounds of a course."""

    def __init__(self, course: Course, config: Config, workers: int | None, tell: Callable[[str], object]) -> None:
        self.course, self.config, self.workers, self.tell = course, config, workers, tell
        self.logins: dict[int, str] = {}
        """The names of users by their ids, as far as a look at the exchange needed them."""

    def grade(
        self, first: list[Submission], kinds: Mapping[Key, str], assignments: Iterable[str], arrivals: batch.More
    ) -> Generator[list[Ending]]:
        """Grade the ``first`` submissions and those that ``arrivals`` brings, of ``assignments``, and write pages.

        ``kinds`` says what each student reads; visible checks are a round of their own. What became of submissions is
        told when their pages are there. Raises VivaError where none can be graded.
        """
        forget()  # a machine changes, and so do its users
        self.logins.clear()
        visible = any(kinds[submission.assignment, submission.student] == VISIBLE for submission in first)
        around = aside(self.course, assignments, self.config) if visible else nullcontext((self.course, self.config))
        with batch.alone(self.course, self.tell), around as (course, config):
            groups = batch.grade_in_groups(
                course,
                first,
                config=config,
                workers=self.workers,
                tell=self.tell,
                more=arrivals,
                assignments=assignments,
            )
            with contextlib.closing(groups):
                for endings in groups:
                    yield self._with_pages(course, endings, config, kinds)

    def _with_pages(
        self, course: Course, graded: list[Ending], config: Config, kinds: Mapping[Key, str]
    ) -> list[Ending]:
        endings = {key_of(ending): ending for ending in graded}
        readable: dict[str, list[Submission]] = defaultdict(list)
        for key, ending in endings.items():
            if ending.status is not Status.FAILED:
                readable[kinds[key]].append(ending.submission)
        for kind, submissions in readable.items():
            for ending in write_feedback(course, submissions, config=_showing(config, kind), workers=self.workers):
                if ending.status is Status.FAILED:
                    endings[key_of(ending)] = ending
        return list(endings.values())

    def hand_out(self, key: Key) -> str:
        """Release a student's pages to the exchange; why it could not be done, or nothing."""
        folder = self.course.path("feedback", *key)
        if not all((folder / name).is_file() for name in DELIVERY):
            return ""  # it did not come from the exchange
        return self._exchange("release_feedback", *key)

    def collect(self, ready: Mapping[Key, Ready], alone: bool) -> tuple[dict[Key, str], dict[str, str]]:
        """Collect the newest submissions of students from the exchange; by place, why it could not be done, and by
        name, why a submission was passed over.

        ``alone`` says whether this process has the course's lock already.
        """
        problems: dict[Key, str] = {}
        passed: dict[str, str] = {}
        with nullcontext() if alone else batch.alone(self.course, self.tell):
            for key, submissions in ready.items():
                if problem := self._exchange("collect", *key, submissions, passed):
                    problems[key] = problem
        return problems, passed

    def _exchange(
        self,
        step: str,
        assignment: str,
        student: str,
        ready: Ready | None = None,
        passed: dict[str, str] | None = None,
    ) -> str:
        directory, factory = self._directory(assignment, student), ExchangeFactory(config=self.config)
        settings = {"coursedir": directory, "authenticator": Authenticator(config=self.config), "config": self.config}
        doer = getattr(factory, step)(**settings, log=logging.getLogger("viva"))
        if isinstance(doer, exchange.ExchangeCollect):
            doer.update = True
        if isinstance(doer, exchange.Collect) and ready is not None:
            doer.only, doer.counted = ready.names, ready.counted
        try:
            doer.start()
        except (ExchangeError, OSError) as error:
            return f"The exchange could not be used: {error}"
        if isinstance(doer, exchange.Collect) and passed is not None:
            passed |= doer.passed
        return ""

    def _directory(self, assignment: str, student: str = "") -> CourseDirectory:
        directory = CourseDirectory(config=self.config)
        directory.root = str(self.course.root)
        directory.assignment_id, directory.student_id = assignment, student or "*"
        return directory

    def _collector(self) -> exchange.Collect:
        settings = {"coursedir": self._directory(""), "authenticator": Authenticator(config=self.config)}
        return exchange.Collect(**settings, config=self.config, log=logging.getLogger("viva"))

    def _inbound(self, collect: exchange.Collect) -> Path:
        return Path(collect.root, self.course.directory.course_id, "inbound")

    def inbound_folder(self) -> Path:
        """Where submissions come in, if there is an exchange."""
        return self._inbound(self._collector())

    def inbound(self, assignments: Container[str]) -> Listing | None:
        """What lies in the exchange for ``assignments``; None where there is none, or where it cannot be listed."""
        collect = self._collector()
        collect.logins |= self.logins
        folder = self._inbound(collect)
        listing = Listing(collect.survey)
        try:
            paths = sorted(folder.iterdir())
        except OSError:
            return None
        for path in paths:
            try:
                entry = collect.entry(path)
                if glob.escape(entry.student) != entry.student:
                    raise SubmissionError("its student's name has a sign that nbgrader reads as a pattern")
            except (SubmissionError, OSError) as error:
                if (parts := path.name.split("+"))[1:2] and parts[1] in assignments:
                    listing.passed[path.name] = (parts[1], parts[0]), exchange.why(error)
                continue
            if entry.assignment in assignments:
                listing.entries[entry.assignment, entry.student].append(entry)
        self.logins = {user: name for user, name in collect.logins.items() if name}  # who has none may get one
        return listing


def _showing(config: Config, kind: str) -> Config:
    config = copy.deepcopy(config)
    config.PageExporter.shows = kind
    return config


@contextlib.contextmanager
def aside(course: Course, assignments: Iterable[str], config: Config) -> Iterator[tuple[Course, Config]]:
    """A course in which only lines are run that students can read, and that is gone afterwards but for its pages.

    Raises CourseError when the course's folders are laid out in a way that no copy can follow.
    """
    if not course.directory.directory_structure.startswith("{nbgrader_step}"):
        raise CourseError(
            "c.Watch.before = 'visible' does not work with this c.CourseDirectory.directory_structure: "
            f"'{course.directory.directory_structure}'. It must begin with {{nbgrader_step}}, like nbgrader's default."
        )
    with tempfile.TemporaryDirectory(prefix="viva-visible-") as name:
        config = copy.deepcopy(config)
        config.Examine.visible_only = True
        config.CourseDirectory.root = str(course.root)
        config.CourseDirectory.db_url = f"sqlite:///{Path(name, 'gradebook.db')}"
        config.CourseDirectory.autograded_directory = str(Path(name, "autograded"))
        copied = Course(CourseDirectory(config=config))
        with course.gradebook() as old, copied.gradebook() as new:
            copy_rows(old, new, CLASS)
        yield copied, config
