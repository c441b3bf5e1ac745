"""A small course that was released and graded at home, and its bundle unpacked where Gradescope would unpack it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from plugins.gradescope.tests.reader import Read, read
from tests.conftest import load
from tests.course.regrade.test_regrading import TINY, write_source
from tests.handmade import empty_course, released
from viva.course.grading.batch import autograde
from viva_gradescope import container
from viva_gradescope.bundle import Bundle

TESTS = """### CHECK 1: two doubles to four
assert double(2) == 4, "Twice two is four."
### CHECK 2: a number that nobody expects
### BEGIN HIDDEN TESTS
unexpected = double(4711.25)
assert unexpected == 9422.5, f"A fraction is doubled too, not {unexpected}."
### END HIDDEN TESTS
### CHECK 2: minus one
### BEGIN HIDDEN TESTS
assert double(-1) == -2
### END HIDDEN TESTS
### CHECK 1: three doubles to six
assert double(3) == 6, "Twice three is six."
assert double(0) == 0"""
RIGHT = "def double(x):\n    return 2 * x"
METADATA = {
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {
        "due_date": "2018-06-30T23:00:00.000000-07:00",
        "late_due_date": None,
        "id": 25828,
        "title": "Tiny",
        "total_points": "8.0",
    },
    "submission_method": "upload",
    "users": [{"email": "student@example.com", "id": 1234, "name": "Student User"}],
    "previous_submissions": [],
}
"""As Gradescope's documentation shows it."""


@dataclass
class Course:
    """The course, and the folder that is /autograder to the container."""

    root: Path
    place: Path
    bundle: Bundle
    assignment: str = TINY
    known: dict[str, tuple[Read, str]] = field(default_factory=dict)

    def notebook(self, **cells: str) -> nbformat.NotebookNode:
        """What a student got, with other texts in some cells."""
        notebook = nbformat.read(self.root / "release" / TINY / "tiny.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = cells.pop(cell.id, cell.source)
        assert not cells, f"no such cells: {cells}"
        return notebook

    def hand_in(self, student: str, notebook: nbformat.NotebookNode | bytes, **files: str) -> None:
        """At home."""
        folder = self.root / "submitted" / student / TINY
        folder.mkdir(parents=True)
        data = notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
        (folder / "tiny.ipynb").write_bytes(data)
        for name, text in files.items():
            (folder / name).write_text(text)

    def scores(self) -> dict[str, float]:
        """The points that checks gave at home to those who could be graded."""
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}") as gradebook:
            found = {
                one.student_id: one.notebooks[0].grades for one in gradebook.assignment_submissions(self.assignment)
            }
            return {student: sum(grade.auto_score or 0.0 for grade in grades) for student, grades in found.items()}

    def graded(self, student: str) -> tuple[Read, str]:
        """What Gradescope shows of a submission that was handed in at home too, and the output of its autograder."""
        if student not in self.known:
            self.submit(student)
            self.known[student] = self.run("grade")
        return self.known[student]

    def submit(self, student: str) -> None:
        """Put what was handed in at home where Gradescope puts a submission."""
        shutil.rmtree(self.place / "submission", ignore_errors=True)
        shutil.copytree(self.root / "submitted" / student / self.assignment, self.place / "submission", symlinks=True)

    def run(self, word: str) -> tuple[Read, str]:
        told = io.StringIO()
        with contextlib.redirect_stdout(told), pytest.MonkeyPatch.context() as patch:
            patch.setenv(container.VARIABLE, str(self.place))
            assert container.main(word) == 0
        return (read(self.place) if word == "grade" else Read(None, [], {})), told.getvalue()


def found_course(root: Path) -> None:
    """A course with one assignment, released."""
    write_source(empty_course(root), TESTS)
    (root / "source" / TINY / "table.csv").write_text("1,2\n")
    released(root, TINY)


def unpack(bundle: Bundle) -> Path:
    """The folder that is /autograder, as Gradescope makes it; everybody can reach it."""
    place = Path(tempfile.mkdtemp(prefix="viva-autograder-", dir="/tmp"))
    place.chmod(0o755)
    with zipfile.ZipFile(io.BytesIO(bundle.to_bytes())) as archive:
        archive.extractall(place / "source")
        for one in archive.infolist():  # as unzip does, and Python does not
            (place / "source" / one.filename).chmod(one.external_attr >> 16 & 0o777)
    for path in (place / "source").rglob("*/"):
        path.chmod(0o755)
    for name in ("submission", "results"):
        (place / name).mkdir()
        (place / name).chmod(0o777)
    shutil.copy(place / "source" / "run_autograder", place)
    (place / "submission_metadata.json").write_text(json.dumps(METADATA))
    return place


@pytest.fixture(scope="session")
def tiny(founded, tmp_path_factory):
    """The course whose students hand in at home and in Gradescope; prepared there."""
    founded = shutil.copytree(founded, tmp_path_factory.mktemp("gradescope") / "course")
    opened, config = load(founded)
    with contextlib.chdir(founded):
        bundle = Bundle.of(opened, TINY, config)
    course = Course(founded, unpack(bundle), bundle)
    secrets = [str(course.place / "source" / name) for name in ("material", "prepared", f"assignment/{TINY}.ipynb")]
    thief = f"""def double(x):
    found = 0
    for path in {secrets}:
        try:
            found += len(open(path, "rb").read())
        except OSError:
            pass
    for path in ("{course.place}/results/results.json", "{course.place}/results/stolen"):
        try:
            open(path, "w").write('{{"score": 100}}')
            found += 1
        except OSError:
            pass
    return 2 * x if found else 0"""
    answers = {
        "right": RIGHT,
        "wrong": "def double(x):\n    return 4",
        "raises": "def double(x):\n    raise ValueError(f'no {x}') if x != 2 else None",
        "prints": "def double(x):\n    print(x)\n    return x",
        "exits": "import sys\n\n\ndef double(x):\n    sys.exit(0)",
        "dies": "import os\n\n\ndef double(x):\n    os._exit(0)",
        "unread": "def double(x:\n    return",
        "thief": thief,
    }
    for student, answer in answers.items():
        course.hand_in(student, course.notebook(double=answer, why="Because."))
    course.hand_in("untouched", course.notebook())
    course.hand_in("broken", b"%PDF-1.7")
    course.hand_in("half", nbformat.writes(course.notebook(double=RIGHT)).encode()[:-300], **{"timestamp.txt": ""})
    (founded / "submitted" / "link" / TINY).mkdir(parents=True)
    (founded / "submitted" / "link" / TINY / "tiny.ipynb").symlink_to("/etc/passwd")
    with contextlib.chdir(founded):
        list(autograde(opened, opened.submissions([TINY]), config=config))
    course.run("prepare")
    yield course
    shutil.rmtree(course.place)


ROOT = os.geteuid() == 0
