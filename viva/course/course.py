"""A course on disk: its folder, assignments, submissions and gradebook, as nbgrader lays them out."""

from __future__ import annotations

import contextlib
import difflib
import glob
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from viva import clock
from viva.course import database
from viva.submission.submission import Submission
from viva.verdict import CourseError

Answer = TypeVar("Answer")


class Course:
    """A course, read from nbgrader's CourseDirectory; paths follow its ``directory_structure``."""

    def __init__(self, directory: CourseDirectory) -> None:
        self.directory = directory
        self.root = Path(directory.root)
        database.look_up()

    @property
    def zones(self) -> tuple[str, ...]:
        """The time zones that the configuration names."""
        return clock.of_course(self.directory.config)

    def require_writable(self) -> None:
        """Raises CourseError when the course folder does not exist or is read-only."""
        self.require_folder()
        if not self.is_writable():
            raise CourseError(f"The course folder {self.root} is read-only; nothing was done. Work in a copy of it.")

    def require_folder(self) -> None:
        """Raises CourseError when there is no course folder, or nbgrader cannot work with its path."""
        if not self.root.is_dir():
            raise CourseError(f"The folder {self.root} does not exist. Name a course folder with --course-dir.")
        require_plain(self.root)

    def is_writable(self) -> bool:
        return os.access(self.root, os.W_OK | os.X_OK)

    @property
    def gradebook_file(self) -> Path | None:
        """The gradebook's file; None when it is in another kind of database."""
        return database.file_of(self.directory)

    @property
    def book(self) -> str:
        """The gradebook as a sentence names it: its file, or its address without a password."""
        return str(self.gradebook_file or f"The gradebook {database.shown(self.directory.db_url)}")

    def gradebook(self) -> Gradebook:
        """An open gradebook; use it in a ``with`` block.

        Raises CourseError when its address is none, or names a database without a driver on this machine.
        """
        url = self.directory.db_url
        try:
            make_url(url)
        except (ArgumentError, ValueError) as error:
            raise database.unusable(url, error) from error
        try:
            return database.with_retries(lambda: Gradebook(url, self.directory.course_id))
        except (ArgumentError, ModuleNotFoundError) as error:
            raise database.unusable(url, error) from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[Gradebook]:
        """An open gradebook that can be written to, so that a file that goes with it is not changed without it.

        In SQLite nobody else can write until it is closed. Raises DBAPIError where it is locked or read-only.
        """
        with self.gradebook() as gradebook:
            database.begin_writing(gradebook)
            yield gradebook

    def ask(self, question: Callable[[Gradebook], Answer]) -> Answer:
        """The answer of the gradebook; it is asked again where it is locked or out of reach. Raises DBAPIError."""

        def attempt() -> Answer:
            with self.gradebook() as gradebook:
                return question(gradebook)

        return database.with_retries(attempt)

    def has_gradebook(self) -> bool:
        """Whether there is a gradebook. One in another database than SQLite's counts as there."""
        return self.gradebook_file is None or self.gradebook_file.exists()

    def path(self, step: str, assignment: str, student: str = ".") -> Path:
        """The folder of an assignment in a step of the flow: source, release, submitted, ..."""
        name = getattr(self.directory, f"{step}_directory")
        return Path(os.path.normpath(self.directory.format_path(name, student, assignment)))

    def exists(self) -> bool:
        """Whether its folder is a course."""
        return self.path("source", ".").is_dir()

    def assignments(self) -> list[str]:
        """The assignments under source/, in order of name, where ps2 comes before ps10.

        Raises CourseError when there is no source folder or nothing in it.
        """
        source = self.path("source", ".")
        if not self.exists():
            raise CourseError(
                f"This folder is not a course: {source} does not exist. Run viva in a course folder, or name one "
                "with --course-dir."
            )
        names = sorted((folder.name for folder in source.iterdir() if any(folder.glob("*.ipynb"))), key=_in_order)
        if not names:
            raise CourseError(f"There is no assignment in {source}. Put a notebook into {source}/<assignment>/.")
        return names

    def chosen(self, names: list[str]) -> list[str]:
        """The named assignments, all of them when none is named; the beginning of a name will do if no other has it.

        Raises CourseError for a name that is not an assignment, with the nearest one that is.
        """
        assignments = self.assignments()
        return list(dict.fromkeys(_meant(name, assignments) for name in names)) or assignments

    def source_notebooks(self, assignment: str) -> list[Path]:
        return sorted(self.path("source", assignment).glob("*.ipynb"))

    def submissions(self, assignments: list[str], student: str = "*") -> list[Submission]:
        """The submissions of the assignments, by assignment and student; ``student`` may be a glob that is not a name.

        Raises CourseError when a student was named and submitted none of them.
        """
        submissions = [submission for name in assignments for submission in self._submissions(name, student)]
        if not submissions and student != "*":
            students = {
                submission.student for name in self.assignments() for submission in self._submissions(name, "*")
            }
            raise CourseError(
                f"No submission of {_listed(assignments)} by a student '{student}'. "
                f"{_nearest(student, sorted(students))}Submissions are in "
                f"{self.path('submitted', '<assignment>', '<student>')}."
            )
        return submissions

    def _submissions(self, assignment: str, student: str) -> list[Submission]:
        step = self.directory.submitted_directory
        pattern = re.compile(self.directory.format_path(step, "(?P<student>[^/]*)", re.escape(assignment), escape=True))
        folders = folders_named(self.directory.format_path(step, student, glob.escape(assignment)), student)
        present = [folder for folder in folders if os.path.isdir(folder) or os.path.islink(folder)]
        matches = [(pattern.fullmatch(folder), folder) for folder in present]
        zones = self.zones
        return [Submission(assignment, match["student"], Path(folder), zones) for match, folder in matches if match]

    def folders_around(self, step: str) -> list[Path]:
        """The folders that hold the folders of a step, in order."""
        pattern = self.directory.format_path(getattr(self.directory, f"{step}_directory"), "*", "*")
        return [Path(folder) for folder in sorted(glob.glob(os.path.dirname(os.path.normpath(pattern))))]

    def strangers(self) -> list[Path]:
        """The folders under submitted/ that belong to no assignment of the course, in order.

        Of a student's folder that is a link and leads to none of them, the link: not what is where it leads.
        """
        assignments, submissions = set(self.assignments()), self.folders("submitted")
        led = {submission.folder.parent for submission in submissions if submission.assignment in assignments}
        links = [folder for folder in self.folders_around("submitted") if folder.is_symlink() and folder not in led]
        folders = [
            submission.folder
            for submission in submissions
            if submission.assignment not in assignments and not submission.folder.parent.is_symlink()
        ]
        return sorted([*links, *folders])

    def loose(self) -> list[Path]:
        """The notebooks under submitted/ that lie above the folders of submissions, in order."""
        places = {self.path("submitted", "."), *self.folders_around("submitted")}
        return sorted(path for folder in places for path in folder.glob("*.ipynb") if path.is_file())

    def folders(self, step: str) -> list[Submission]:
        """Every folder of a student and an assignment in a step of the flow, known ones and others, in order."""
        name = getattr(self.directory, f"{step}_directory")
        pattern = self.directory.format_path(name, "(?P<student>[^/]*)", "(?P<assignment>[^/]*)", escape=True)
        folders = sorted(glob.glob(self.directory.format_path(name, "*", "*")))
        matches = [(re.fullmatch(pattern, folder), folder) for folder in folders if os.path.isdir(folder)]
        zones = self.zones
        return [
            Submission(match["assignment"], match["student"], Path(folder), zones) for match, folder in matches if match
        ]


def require_plain(folder: Path) -> None:
    """Raises CourseError for a folder that can be no course: nbgrader puts its path into patterns, and finds nothing.

    A '?' also ends a file's name in the address of a gradebook. Variables in a path are replaced where a configuration
    is looked for, which is then not found: without one there are no late penalties, and formgrader grades without
    a sandbox.
    """
    if os.path.expandvars(folder) != str(folder):
        raise CourseError(
            f"The path of the course folder {folder} has a $ before a name. Jupyter replaces this by the value of "
            "a variable. Nothing was done. Rename the folder."
        )
    if glob.escape(str(folder)) != str(folder):
        raise CourseError(
            f"The path of the course folder {folder} has a [, * or ?. nbgrader reads these as a pattern. Nothing "
            "was done. Rename the folder."
        )


def _meant(name: str, assignments: list[str]) -> str:
    """The assignment that a name or its beginning means. Raises CourseError when it is none, or several.

    ``ps1`` means ``ps1_attention`` rather than ``ps10_training``.
    """
    begun = [assignment for assignment in assignments if assignment.startswith(name)]
    whole = [assignment for assignment in begun if not name[-1:].isdigit() or not assignment[len(name) :][:1].isdigit()]
    begun = whole if len(whole) == 1 else begun
    if name in assignments or len(begun) == 1:
        return name if name in assignments else begun[0]
    if begun and name:
        raise CourseError(f"'{name}' is the beginning of several assignments: {', '.join(begun)}. Write the full name.")
    raise CourseError(
        f"There is no assignment '{name}'. {_nearest(name, assignments)}The assignments are: {', '.join(assignments)}."
    )


def _in_order(name: str) -> list[tuple]:
    """A key for names in which numbers count as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part), "") if number % 2 else (1, 0, part) for number, part in enumerate(parts)]


def _nearest(name: str, names: list[str]) -> str:
    begun = [full_name for full_name in names if full_name.startswith(name)]
    nearest = begun or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"Did you mean '{nearest[0]}'? " if nearest else ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"any of {len(names)} assignments"


def folders_named(path: str, student: str) -> list[str]:
    """The folders of a student's path: the folder of that name if it exists, otherwise all that match the pattern."""
    return [path] if student != "*" and os.path.lexists(path) else sorted(glob.glob(path))
