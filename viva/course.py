"""A course on disk: its assignments, students, submissions and gradebook, as nbgrader lays them out."""

from __future__ import annotations

import difflib
import fnmatch
import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Base, Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import inspect
from sqlalchemy.exc import ArgumentError

from viva.verdict import CourseError


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment."""

    assignment: str
    student: str
    folder: Path


class Course:
    """A course, read from nbgrader's CourseDirectory; paths follow its ``directory_structure``."""

    def __init__(self, directory: CourseDirectory) -> None:
        self.directory = directory
        self.root = Path(directory.root)

    def require_writable(self) -> None:
        """Raises CourseError when nothing can be written into the course folder, or there is none."""
        if not self.root.is_dir():
            raise CourseError(f"There is no folder {self.root}. Name a course folder with --course-dir.")
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise CourseError(f"The course folder {self.root} is read-only; nothing was done. Work in a copy of it.")
        if "?" in str(self.root) and self.gradebook_file:
            raise CourseError(
                f"The path of the course folder {self.root} holds a '?', which ends a file's name in the address of a "
                "gradebook; nothing was done. Rename the folder."
            )

    def require_gradebook(self) -> None:
        """Raises CourseError when the gradebook, if there is one, cannot be written to or is an older nbgrader's."""
        path = self.gradebook_file
        if path and not path.exists():
            return
        if path and not os.access(path, os.W_OK):
            raise CourseError(
                f"The gradebook {path} is read-only; nothing was done. "
                "Make it writable, then run the same command again."
            )
        self.require_columns()

    def require_columns(self) -> None:
        """Raises CourseError when the gradebook lacks what nbgrader's models ask for; it is only read."""
        with self.gradebook() as gradebook:
            tables = inspect(gradebook.engine)
            for table in Base.metadata.sorted_tables:
                missing = {column.name for column in table.columns} - {
                    column["name"] for column in tables.get_columns(table.name)
                }
                if missing:
                    raise CourseError(
                        f"The gradebook {self.directory.db_url} was made by an older nbgrader: its table {table.name} "
                        f"has no column {min(missing)}. Run 'nbgrader db upgrade', then the same command again."
                    )

    @property
    def gradebook_file(self) -> Path | None:
        """The gradebook's file; None when it is in another kind of database."""
        path = self.directory.db_url.removeprefix("sqlite:///")
        return None if path == self.directory.db_url else self.root / path

    def gradebook(self) -> Gradebook:
        """An open gradebook; use it in a ``with`` block.

        Raises CourseError when its address is none, or names a database without a driver on this machine.
        """
        try:
            return Gradebook(self.directory.db_url, self.directory.course_id)
        except (ArgumentError, ModuleNotFoundError) as error:
            raise CourseError(
                f"'{self.directory.db_url}' is not the address of a gradebook: {error}. "
                "Write it as sqlite:////home/me/course/gradebook.db."
            ) from error

    def path(self, step: str, assignment: str, student: str = ".") -> Path:
        """The folder of an assignment in a step of the flow: source, release, submitted, ..."""
        name = getattr(self.directory, f"{step}_directory")
        return Path(os.path.normpath(self.directory.format_path(name, student, assignment)))

    def assignments(self) -> list[str]:
        """The assignments under source/, in order of name.

        Raises CourseError when there is no source folder or nothing in it.
        """
        source = self.path("source", ".")
        if not source.is_dir():
            raise CourseError(
                f"{source} does not exist, so this is not a course. "
                "Run viva in a course folder, or name one with --course-dir."
            )
        names = sorted(folder.name for folder in source.iterdir() if any(folder.glob("*.ipynb")))
        if not names:
            raise CourseError(f"There is no assignment in {source}. Put a notebook into {source}/<assignment>/.")
        return names

    def chosen(self, names: list[str]) -> list[str]:
        """The named assignments, all of them when none is named.

        Raises CourseError for a name that is no assignment, with the nearest one that is.
        """
        known = self.assignments()
        for name in names:
            if name not in known:
                raise CourseError(
                    f"There is no assignment '{name}'. {_nearest(name, known)}The assignments are: {', '.join(known)}."
                )
        return list(dict.fromkeys(names)) or known

    def source_notebooks(self, assignment: str) -> list[Path]:
        return sorted(self.path("source", assignment).glob("*.ipynb"))

    def submissions(self, assignments: list[str], student: str = "*") -> list[Submission]:
        """The submissions of the assignments, by assignment and student; ``student`` may be a glob.

        Raises CourseError when a student was named and handed in none of them.
        """
        found = [submission for name in assignments for submission in self._submissions(name, student)]
        if not found and student != "*":
            known = {submission.student for name in self.assignments() for submission in self._submissions(name, "*")}
            raise CourseError(
                f"No submission of {_listed(assignments)} by a student '{student}'. "
                f"{_nearest(student, sorted(known))}"
                f"Submissions lie in {self.path('submitted', '<assignment>', '<student>')}."
            )
        return found

    def _submissions(self, assignment: str, student: str) -> list[Submission]:
        step = self.directory.submitted_directory
        place = re.compile(self.directory.format_path(step, "(?P<student>[^/]*)", assignment, escape=True))
        folders = sorted(glob.glob(self.directory.format_path(step, student, assignment)))
        matches = [(place.fullmatch(folder), folder) for folder in folders if os.path.isdir(folder)]
        return [Submission(assignment, match["student"], Path(folder)) for match, folder in matches if match]

    def folders_around(self, step: str) -> list[Path]:
        """The folders that hold the folders of a step, in order."""
        pattern = self.directory.format_path(getattr(self.directory, f"{step}_directory"), "*", "*")
        return [Path(folder) for folder in sorted(glob.glob(os.path.dirname(os.path.normpath(pattern))))]

    def strangers(self) -> list[Path]:
        """The folders under submitted/ that belong to no assignment of the course, in order."""
        known = set(self.assignments())
        pattern = self.directory.format_path(self.directory.submitted_directory, "*", "*")
        place = self.directory.format_path(
            self.directory.submitted_directory, "(?P<student>[^/]*)", "(?P<assignment>[^/]*)", escape=True
        )
        matches = [
            (re.fullmatch(place, folder), folder) for folder in sorted(glob.glob(pattern)) if os.path.isdir(folder)
        ]
        return [Path(folder) for match, folder in matches if match and match["assignment"] not in known]

    def students(self, student: str = "*") -> list[str]:
        """The ids of the students in the gradebook, in order; ``student`` may be a glob.

        Raises CourseError when a student was named and is not among them.
        """
        with self.gradebook() as gradebook:
            known = sorted(student.id for student in gradebook.students)
        found = fnmatch.filter(known, student)
        if not found and student != "*":
            raise CourseError(f"There is no student '{student}' in the gradebook. {_nearest(student, known)}".strip())
        return found

    def released_notebooks(self, assignment: str) -> set[str]:
        """The names of the assignment's notebooks in the gradebook.

        Raises CourseError when the assignment was not released into it yet.
        """
        hint = f"The gradebook does not know {assignment} yet. Run 'viva release {assignment}' first."
        if self.gradebook_file and not self.gradebook_file.exists():
            raise CourseError(hint)
        with self.gradebook() as gradebook:
            try:
                names = {notebook.name for notebook in gradebook.find_assignment(assignment).notebooks}
            except MissingEntry:
                names = set()
        if not names:
            raise CourseError(hint)
        return names


def _nearest(name: str, known: list[str]) -> str:
    begun = [other for other in known if other.startswith(name)]
    nearest = begun or difflib.get_close_matches(name, known, n=1)
    return f"Did you mean '{nearest[0]}'? " if nearest else ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"any of {len(names)} assignments"
