"""Variants of an assignment: a seed for each student, by HMAC from the course's key.

Theory of operation. Which assignments have variants stands in nbgrader_config.py, which every machine that grades
reads: a file that a command makes may be missing there, and all would be graded as if nobody had a variant. The key
makes the seeds, so none are kept. It lies in ``variants.key`` and stays in the course: who grades elsewhere gets the
seeds (``material``), and the process that runs a student's code the one in the notebook.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.api import Student
from traitlets import List, Unicode
from traitlets.config import Configurable

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.database import with_retries
from viva.course.gradebook import joined
from viva.course.processes import leftovers
from viva.course.releasing import contract
from viva.engine.blueprint import read_blueprint
from viva.folder import fill
from viva.submission.files.handin import name_problem
from viva.submission.variant import SEED, default_of, seeded
from viva.verdict import CourseError

KEY = "variants.key"
FOLDER = "variants"
"""Where they are written, by assignment and student."""
LEAST = 16
"""Characters of a key."""
LOWEST, COUNT = 100_000_000, 900_000_000
"""Seeds are numbers of nine digits: people read them aloud, and every generator of random numbers takes them."""


class Variants(Configurable):
    """Which assignments of a course have variants."""

    assignments = List(Unicode(), help="The assignments that have a variant for each student.").tag(config=True)
    key = Unicode("", help=f"The secret key of the variants, instead of the key in {KEY}.").tag(config=True)


def seed_for(key: bytes, student: str, assignment: str) -> int:
    """The seed of a student's variant; no name of a folder holds the character between the two."""
    message = f"{student}\0{assignment}".encode("utf-8", "surrogateescape")
    return LOWEST + int.from_bytes(hmac.digest(key, message, hashlib.sha256)) % COUNT


def seeds_of(course: Course, assignment: str) -> dict[str, int] | None:
    """By student, the seeds of an assignment; None where it has no variants. Raises CourseError without a key."""
    if not is_on(course, assignment):
        return None
    require_offered(assignment, contract.notebooks_of(course, assignment))
    key = key_of(course)
    if key is None:
        raise CourseError(
            f"{assignment} has variants, but their key {course.root / KEY} does not exist. Restore this key from a "
            f"copy of the course. If no student has a variant yet, 'viva release {assignment} --variants' makes a "
            "new key."
        )
    handed_in = {submission.student for submission in course.submissions([assignment])}
    everybody = {*entered(course), *handed_in, *joined.read(course.root)}
    return {student: seed_for(key, student, assignment) for student in sorted(everybody)}


def is_on(course: Course, assignment: str) -> bool:
    """Whether the configuration says that an assignment has variants. Raises CourseError where it names none.

    With a name that is misspelt, everybody's work would be graded as if it had none.
    """
    named = Variants(config=course.directory.config).assignments
    try:
        return bool(named) and assignment in course.chosen(named)
    except CourseError as error:
        raise CourseError(f"c.Variants.assignments in nbgrader_config.py: {error}") from error


def require_on(course: Course, assignment: str) -> None:
    """Raises CourseError where an assignment has no variants, or its notebooks offer none."""
    if not is_on(course, assignment):
        assignments = [*Variants(config=course.directory.config).assignments, assignment]
        listed = ", ".join(f'"{name}"' for name in assignments)
        raise CourseError(
            f"{assignment} has no variants. To enable them for every grader, add a line to "
            f"{course.root / 'nbgrader_config.py'}: c.Variants.assignments = [{listed}]"
        )
    require_offered(assignment, contract.notebooks_of(course, assignment))


def require_offered(assignment: str, notebooks: Iterable[Path]) -> None:
    """Raises CourseError where none of an assignment's notebooks has a seed, and BlueprintError where one is
    misplaced."""
    if all(default_of(read_blueprint(path)) is None for path in notebooks):
        raise CourseError(
            f"{assignment} cannot have variants, because none of its notebooks has a line '{SEED} = 20261' in a "
            f"read-only cell. Add that line, and use {SEED} to make the data; or remove {assignment} from "
            "c.Variants.assignments."
        )


def entered(course: Course) -> list[str]:
    """The students of the gradebook, in order of their ids."""
    if not course.has_gradebook():
        return []

    def ask() -> list[str]:
        with course.gradebook() as gradebook:
            return [student for (student,) in gradebook.db.query(Student.id).order_by(Student.id)]

    return with_retries(ask)


def key_of(course: Course) -> bytes | None:
    """The key of the course; None where there is none yet. Raises CourseError for one that is too short."""
    path, configured = course.root / KEY, Variants(config=course.directory.config).key
    text = configured or (path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else None)
    if text is not None and len(text) < LEAST:
        where = "c.Variants.key" if configured else str(path)
        raise CourseError(
            f"The key of the variants in {where} has only {len(text)} characters, so it is easy to guess. Restore "
            f"the old key, or use a secret of at least {LEAST} characters."
        )
    return None if text is None else text.encode()


def made_key(course: Course) -> tuple[bytes, bool]:
    """The key of the course, and whether it is new: a course without a key gets one.

    Who calls this is alone with the course. Raises CourseError where the key is gone though variants were written with
    it: another one would make others.
    """
    if (key := key_of(course)) is not None:
        return key, False
    require_unused(course)
    text = secrets.token_hex(32)
    leftovers.write(course.root / KEY, f"{text}\n", 0o600)
    return text.encode(), True


def require_unused(course: Course) -> None:
    """Raises CourseError where variants were written, so that a key was there."""
    if written := next((path for path in (course.root / FOLDER).glob("*/*") if path.is_dir()), None):
        raise CourseError(
            f"The key {course.root / KEY} is missing. {written.parent} has variants made with it, and a new key "
            "would make other variants. Restore the key from a copy of the course. If no student has a variant "
            f"yet, delete {course.root / FOLDER} and run the same command again."
        )


# Each student's own copy of a released assignment: the release, with the seed of their variant.


@dataclass
class Copies:
    """The copies of an assignment's variants, written or planned, by student; ``folder`` holds them."""

    assignment: str
    folder: Path
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Students whose copy is of an earlier release."""
    unchanged: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def students_of(course: Course, assignment: str) -> list[str]:
    """The students who get a copy: those of the gradebook. Raises CourseError where there are none."""
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
    """Write the copy of every student in the gradebook; a copy that is up to date is left alone.

    Nothing is written where something cannot be. Who calls this is alone with the course, unless it is a ``dry_run``.
    Raises CourseError without variants, students, a release or the key that copies were written with before.
    """
    students = students_of(course, assignment)
    folder = course.root / FOLDER / assignment  # which has one for each student
    copies, is_new = Copies(assignment, folder), False
    key: bytes | None
    if not dry_run:
        key, is_new = made_key(course)
        leftovers.finish_builds([folder])
    elif (key := key_of(course)) is None:
        return Copies(assignment, folder, new=students, remarks=["A new key for all variants would be made."])
    if is_new:
        copies.remarks.append("A new key for all variants was made. Keep a copy of it in a secret place.")
    release = _Release(course, assignment)
    written: dict[str, dict[str, bytes]] = {}
    for student in students:
        files = dict(release.files(seed_for(key, student, assignment)))
        target = folder / student
        those = copies.new
        if target.is_dir():
            those = copies.unchanged if _content(target) == files else copies.changed
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
        self.source = course.path("source", assignment)
        self.others, self.notebooks = _content(self.folder), {}
        for source in sorted(contract.folder_of(course.directory, assignment).glob("*.ipynb")):
            if (default := default_of(read_blueprint(source))) is None:
                continue
            text = self.others.pop(source.name, b"").decode()
            notebook = nbformat.reads(text, as_version=4) if text else None
            if notebook is None or nbformat.writes(seeded(notebook, default)) != text.removesuffix("\n"):
                raise CourseError(
                    f"{self.folder / source.name} was not made from the present {self.source / source.name}. Run "
                    f"'viva release {assignment} --variants' first."
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
        new = Path(name, "new")
        for student, files in students.items():
            fill(new / student, files)
        for student in students:
            leftovers.put(new / student, folder / student)
