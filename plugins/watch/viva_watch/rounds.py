"""One round: submissions are graded as `viva grade` does it, pages written, and returned where the course wants it.

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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from traitlets.config import Config

from viva.course import batch, exchange
from viva.course.course import Course
from viva.course.regrade.trialcopy import copy_rows
from viva.pages.feedback import DELIVERY, write_feedback
from viva.submission.submission import Ending, Status, Submission
from viva.verdict import CourseError
from viva_watch.schedule import Place

CLASS = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")
"""The tables of a gradebook that are about students."""
VISIBLE = "visible"


def place_of(ending: Ending) -> Place:
    return ending.submission.assignment, ending.submission.student


class Rounds:
    """The rounds of a course."""

    def __init__(self, course: Course, config: Config, workers: int | None, tell: Callable[[str], object]) -> None:
        self.course, self.config, self.workers, self.tell = course, config, workers, tell

    def grade(
        self, first: list[Submission], kinds: Mapping[Place, str], assignments: Iterable[str], more: batch.More
    ) -> Generator[list[Ending]]:
        """Grade submissions, the ``first`` and those that ``more`` brings, of these ``assignments``, and write pages.

        ``kinds`` says what each student reads; visible checks are a round of their own. What became of submissions is
        told when their pages are there. Raises VivaError where none can be graded.
        """
        visible = any(kinds[one.assignment, one.student] == VISIBLE for one in first)
        around = aside(self.course, assignments, self.config) if visible else nullcontext((self.course, self.config))
        with batch.alone(self.course, self.tell), around as (course, config):
            groups = batch.grade_in_groups(
                course,
                first,
                config=config,
                workers=self.workers,
                tell=self.tell,
                more=more,
                assignments=assignments,
            )
            with contextlib.closing(groups):
                for endings in groups:
                    yield self._with_pages(course, endings, config, kinds)

    def _with_pages(
        self, course: Course, graded: list[Ending], config: Config, kinds: Mapping[Place, str]
    ) -> list[Ending]:
        found = {place_of(ending): ending for ending in graded}
        readable: dict[str, list[Submission]] = defaultdict(list)
        for place, ending in found.items():
            if ending.status is not Status.FAILED:
                readable[kinds[place]].append(ending.submission)
        for kind, some in readable.items():
            for ending in write_feedback(course, some, config=_showing(config, kind), workers=self.workers):
                if ending.status is Status.FAILED:
                    found[place_of(ending)] = ending
        return list(found.values())

    def hand_out(self, place: Place) -> str:
        """Release a student's pages to the exchange; why it could not be done, or nothing."""
        folder = self.course.path("feedback", *place)
        if not all((folder / name).is_file() for name in DELIVERY):
            return ""  # it did not come from the exchange
        return self._exchange("release_feedback", *place)

    def collect(self, places: Iterable[Place], alone: bool) -> dict[Place, str]:
        """Collect the newest submissions of students from the exchange; by place, why it could not be done.

        ``alone`` says whether this process has the course's lock already.
        """
        with nullcontext() if alone else batch.alone(self.course, self.tell):
            found = {place: self._exchange("collect", *place) for place in places}
        return {place: problem for place, problem in found.items() if problem}

    def _exchange(self, step: str, assignment: str, student: str) -> str:
        directory, factory = self._directory(assignment, student), ExchangeFactory(config=self.config)
        about = {"coursedir": directory, "authenticator": Authenticator(config=self.config), "config": self.config}
        doer = getattr(factory, step)(**about, log=logging.getLogger("viva"))
        if isinstance(doer, exchange.ExchangeCollect):
            doer.update = True
        try:
            doer.start()
        except (ExchangeError, OSError) as error:
            return f"The exchange could not be used: {error}"
        return ""

    def _directory(self, assignment: str, student: str = "") -> CourseDirectory:
        directory = CourseDirectory(config=self.config)
        directory.root = str(self.course.root)
        directory.assignment_id, directory.student_id = assignment, student or "*"
        return directory

    def inbound(self) -> dict[Place, list[Path]]:
        """By assignment and student, the folders in the exchange; a name that nbgrader takes for a pattern is none."""
        about = {"coursedir": self._directory(""), "authenticator": Authenticator(config=self.config)}
        exchange = ExchangeFactory(config=self.config).collect(**about, config=self.config)
        place = Path(exchange.root, self.course.directory.course_id, "inbound")
        found: dict[Place, list[Path]] = defaultdict(list)
        with contextlib.suppress(OSError):  # there is no exchange yet
            for path in place.iterdir():
                student, *rest = path.name.split("+")
                if len(rest) > 1 and glob.escape(student) == student and path.is_dir() and not path.is_symlink():
                    found[rest[0], student].append(path)
        return found


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
            "Visible checks need a directory_structure that begins with {nbgrader_step}, not "
            f"'{course.directory.directory_structure}'. Choose another c.Watch.before."
        )
    with tempfile.TemporaryDirectory(prefix="viva-visible-") as name:
        config = copy.deepcopy(config)
        config.Examine.visible_only = True
        config.CourseDirectory.root = str(course.root)
        config.CourseDirectory.db_url = f"sqlite:///{Path(name, 'gradebook.db')}"
        config.CourseDirectory.autograded_directory = str(Path(name, "autograded"))
        other = Course(CourseDirectory(config=config))
        with course.gradebook() as old, other.gradebook() as new:
            copy_rows(old, new, CLASS)
        yield other, config
