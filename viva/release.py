"""From source/ to release/: the student version of an assignment, compiled by nbgrader."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from viva.blueprint import Blueprint, read_blueprint
from viva.course import Course
from viva.verdict import CourseError

MARKERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")


@dataclass(frozen=True)
class Release:
    """What was released: the blueprints of the notebooks, and every other file that went along."""

    assignment: str
    blueprints: tuple[Blueprint, ...]
    extra_files: tuple[str, ...]

    @property
    def automatic_points(self) -> float:
        return sum(blueprint.automatic_points for blueprint in self.blueprints)

    @property
    def manual_points(self) -> float:
        return sum(blueprint.manual_points for blueprint in self.blueprints)


def release(course: Course, assignment: str, *, config: Config) -> Release:
    """Compile an assignment into release/ and record its cells in the gradebook.

    Raises BlueprintError when a notebook's checks do not fit its cells, and CourseError when
    nbgrader refuses; release/ then stays as it was or lacks the assignment, and never holds a part.
    """
    blueprints = tuple(read_blueprint(path) for path in course.source_notebooks(assignment))
    _generate(course, assignment, config)
    folder = course.path("release", assignment)
    notebooks = {f"{blueprint.name}.ipynb" for blueprint in blueprints}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    for name in notebooks:
        _refuse_markers(folder / name)
    return Release(assignment, blueprints, tuple(sorted(files - notebooks)))


def _generate(course: Course, assignment: str, config: Config) -> None:
    messages: list[str] = []
    log = logging.Logger(assignment, logging.WARNING)
    log.addHandler(_Collect(messages))
    directory = CourseDirectory(config=config, log=log)
    directory.root, directory.assignment_id = str(course.root), assignment
    converter = GenerateAssignment(coursedir=directory, config=config, log=log)
    converter.force = True
    try:
        converter.start()
    except NbGraderException as error:
        text = "\n".join(messages)
        if "there are submissions associated with" in text:
            raise CourseError(
                f"{assignment} has submissions in the gradebook, and its cells were added, removed or renamed since. "
                "Keep the grade ids of a released assignment, or start from a new gradebook."
            ) from error
        last = text.strip().splitlines()[-1:] or [str(error)]
        reasons = [line for line in text.splitlines() if "Error: " in line]
        raise CourseError(f"nbgrader could not release {assignment}: {(reasons or last)[-1]}") from error


def _refuse_markers(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    for marker in MARKERS:
        if marker in text:
            notebook.unlink()
            raise CourseError(
                f"The student version of {notebook.name} still held the words '{marker}', so it was removed. "
                "Write the marker on a line of its own, in a cell of the right kind."
            )


class _Collect(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__()
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
