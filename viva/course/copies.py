"""Each student's own copy of a released assignment: the release, with the seed of their variant."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.course.variants import (
    FOLDER,
    entered,
    key_of,
    made_key,
    require_on,
    require_unused,
    seed_for,
)
from viva.engine.blueprint import read_blueprint
from viva.engine.seedline import default_of
from viva.folder import fill
from viva.submission.files.handin import name_problem
from viva.submission.variant import seeded
from viva.verdict import CourseError


@dataclass
class Copies:
    """What was written of an assignment's variants, or is to be: by students, and the ``folder`` that holds theirs."""

    assignment: str
    folder: Path
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Students whose copy is of an earlier release."""
    unchanged: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def students_of(course: Course, assignment: str) -> list[str]:
    """Who gets a copy: the students of the gradebook. Raises CourseError where there is none to be had."""
    require_on(course, assignment)
    students = entered(course)
    if not students:
        raise CourseError(
            f"The gradebook has no students, so no variant of {assignment} was written. Read the roster first: "
            "viva roster FILE"
        )
    for student in students:
        problem = name_problem(student)
        if Path(student).name != student or problem:
            problem = problem or (
                f"the student's id {plaintext.quoted(student)} in the gradebook is not a valid folder name"
            )
            raise CourseError(f"No variant was written: {problem}.")
    if key_of(course) is None:
        require_unused(course)
    return students


def write_copies(course: Course, assignment: str, dry_run: bool = False) -> Copies:
    """Write the copy of every student in the gradebook; who has the same already is left alone.

    Nothing is written where something cannot be. Who calls this is alone with the course, unless it is a ``dry_run``.
    Raises CourseError without variants, students, a release or the key that copies were written with before.
    """
    students = students_of(course, assignment)
    folder = course.root / FOLDER / assignment  # which has one for each student
    copies, made = Copies(assignment, folder), False
    key: bytes | None
    if not dry_run:
        key, made = made_key(course)
        leftovers.finish_builds([folder])
    elif (key := key_of(course)) is None:
        return Copies(assignment, folder, new=students, remarks=["A new key for all variants would be made."])
    if made:
        copies.remarks.append("A new key for all variants was made. Keep a copy of it, and keep it secret.")
    release = _Release(course, assignment)
    written: dict[str, dict[str, bytes]] = {}
    for student in students:
        files = dict(release.files(seed_for(key, student, assignment)))
        there = folder / student
        those = copies.new
        if there.is_dir():
            those = copies.unchanged if _content(there) == files else copies.changed
        those.append(student)
        if those is not copies.unchanged:
            written[student] = files
    if not dry_run and written:
        _write(folder, written)
    return copies


class _Release:
    """A released assignment, as it lies in release/."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Raises CourseError where a notebook that offers variants is not there, or offers another seed."""
        self.folder = course.path("release", assignment)
        self.others, self.notebooks = _content(self.folder), {}
        for source in course.source_notebooks(assignment):
            if (default := default_of(read_blueprint(source))) is None:
                continue
            text = self.others.pop(source.name, b"").decode()
            notebook = nbformat.reads(text, as_version=4) if text else None
            if notebook is None or nbformat.writes(seeded(notebook, default)) != text.removesuffix("\n"):
                raise CourseError(
                    f"{self.folder / source.name} is not the release of {source}. Run 'viva release {assignment} "
                    "--variants' to compile it first."
                )
            self.notebooks[source.name] = notebook

    def files(self, seed: int) -> Iterator[tuple[str, bytes]]:
        """The files of one student, by path."""
        yield from self.others.items()
        for name, notebook in self.notebooks.items():
            yield name, f"{nbformat.writes(seeded(notebook, seed))}\n".encode()


def _content(folder: Path) -> dict[str, bytes]:
    """The files in a folder, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write(folder: Path, students: dict[str, dict[str, bytes]]) -> None:
    """Write everybody's files beside their places; then each folder takes its own, and no place holds a part."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=folder) as name:
        build, old = Path(name), Path(name, "old")
        for student, files in students.items():
            fill(build / "new" / student, files)
        old.mkdir()
        for student in students:
            if (folder / student).exists():
                (folder / student).rename(old / student)  # finish_builds brings it back
            (build / "new" / student).rename(folder / student)
