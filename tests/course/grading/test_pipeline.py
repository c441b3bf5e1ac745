"""A submission is graded from bytes alone, anywhere, and comes to what it comes to in a batch."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import msgspec
import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from tests.conftest import PROJECT, load
from tests.course.regrade.test_regrading import TINY, write_source
from tests.handmade import empty_course, released
from viva.course.gradebook.recording import Expected
from viva.course.gradebook.results import Results
from viva.course.grading.batch import autograde
from viva.course.grading.filing import Filing
from viva.course.grading.marking import Job, Marked
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed, grade, lay_out
from viva.record import SubmissionRecord
from viva.submission.files.handin import Finding
from viva.submission.packing import pack
from viva.submission.submission import Submission
from viva.verdict import CourseError

RIGHT = "def double(x):\n    return 2 * x"
ANSWERS = {
    "right": RIGHT,
    "wrong": "def double(x):\n    return 4",
    "error": "def double(x):\n    return open('table.csv').read() and nothing",
    "killed": "import os\n\n\ndef double(x):\n    os._exit(3)",
    "patched": f"{RIGHT}\nimport numpy\nnumpy.allclose = len",
}
THERE = """
import sys
from pathlib import Path
from viva.course.grading.material import Material
from viva.course.grading.pipeline import grade
from viva.engine.grading import Grader
from viva.sandbox.confinement import Sandbox

folder = Path(sys.argv[1])
grader = Grader(30.0, (Sandbox.for_candidate(), Sandbox.for_examiner()))
material = Material.from_bytes((folder / "material").read_bytes())
for package in folder.glob("*.package"):
    package.with_suffix(".graded").write_bytes(grade(package.read_bytes(), material, grader))
grader.close()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory, grader):
    """A course, graded in a batch; and a folder with the bytes that grading it elsewhere needs."""
    root, folder = empty_course(tmp_path_factory.mktemp("course")), tmp_path_factory.mktemp("bytes")
    write_source(root)
    (root / "source" / TINY / "table.csv").write_text("1,2\n")
    course, config = released(root, TINY)
    for student, answer in ANSWERS.items():
        notebook = nbformat.read(root / "release" / TINY / "tiny.ipynb", as_version=4)
        cells = {cell.id: cell for cell in notebook.cells}
        cells["double"].source, cells["name"].source = answer, f'NAME = "{student.title()}"'
        notebook.cells.pop(0)
        (root / "submitted" / student / TINY).mkdir(parents=True)
        nbformat.write(notebook, root / "submitted" / student / TINY / "mine.ipynb")
        (root / "submitted" / student / TINY / "notes.txt").write_text("my notes")
        (root / "submitted" / student / TINY / "timestamp.txt").write_text("2026-09-14 10:00:00 UTC")
    (root / "submitted" / "pdf" / TINY).mkdir(parents=True)
    (root / "submitted" / "pdf" / TINY / "tiny.ipynb").write_text("%PDF-1.7")
    list(autograde(course, course.submissions([TINY]), config=config))
    with course.gradebook() as gradebook:
        expected = Expected.of(gradebook, TINY)
    with contextlib.chdir(root):
        (folder / "material").write_bytes(Material.of(course, TINY, config, expected, grader).to_bytes())
    for submission in course.submissions([TINY]):
        (folder / f"{submission.student}.package").write_bytes(pack(submission))
    return root, folder


def timeless(record: SubmissionRecord) -> SubmissionRecord:
    record.graded, record.seconds, record.key = "", 0.0, ""
    for _, _, result in record.results():
        result.seconds = 0.0
    return record


@pytest.mark.slow
def test_a_process_that_sees_no_course_grades_bytes_as_the_batch_did(made, tmp_path):
    root, folder = made
    hidden = root.rename(root.with_name("moved"))
    try:
        environment = {**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", THERE, folder], cwd=tmp_path, env=environment, check=True)
    finally:
        hidden.rename(root)
    batch = {student: timeless(known) for (_, student), known in Results(root / "results.jsonl").read().items()}
    for student in ANSWERS:
        passed = msgspec.msgpack.decode((folder / f"{student}.graded").read_bytes(), type=Passed)
        assert timeless(passed.record) == batch[student]
        here = (root / "autograded" / student / TINY / "tiny.ipynb").read_text(encoding="utf-8")
        assert passed.notebooks["tiny"] == here
        assert str(passed.graded.timestamp) == "2026-09-14 10:00:00"
    assert batch["patched"].notebooks["tiny"].integrity and batch["right"].notebooks["tiny"].names == ["Right"]
    passed = msgspec.msgpack.decode((folder / "pdf.graded").read_bytes(), type=Passed)
    assert "is not a notebook but a PDF" in passed.refusal and passed.record is None
    assert list(tmp_path.iterdir()) == []


def test_a_function_in_the_configuration_stays_behind_and_a_batch_goes_on(made, grader, tmp_path):
    root, _ = made
    course = shutil.copytree(root, tmp_path / "course")
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "c.Autograde.hook = lambda notebook: notebook\n")
    opened, config = load(course)
    config.Autograde.force = True
    endings = {one.submission.student: one for one in autograde(opened, opened.submissions([TINY]), config=config)}
    assert [str(verdict) for verdict in endings["right"].verdicts][:1] == ["passed"], endings["right"]
    with opened.gradebook() as gradebook:
        expected = Expected.of(gradebook, TINY)
    with contextlib.chdir(course):
        data = Material.of(opened, TINY, config, expected, grader).to_bytes()
    with pytest.raises(CourseError, match="defines a function"):
        Material.from_bytes(data)


@pytest.mark.slow
def test_no_key_password_or_token_goes_along(made):
    known = Material.from_bytes((made[1] / "material").read_bytes())
    config = Config(known.config)
    config.CourseDirectory.db_url = "postgresql+psycopg://viva:secret-1@host/course"
    config.Variants.key = "secret-2-" * 4
    config.NgshareExchange.token = "secret-3"
    data = replace(known, config=config).to_bytes()
    assert b"secret" not in data and Material.from_bytes(data).config.Execute == known.config.Execute
    assert config.CourseDirectory.db_url and config.Variants.key  # those of this process stay


@pytest.mark.parametrize("passed", [Passed(), Passed(record=SubmissionRecord(TINY, "right"))])
def test_what_a_worker_of_a_cluster_says_without_record_or_scores_is_refused(made, passed):
    clusteraddress = pytest.importorskip("viva_scale.clusteraddress", reason="nbviva-scale is not installed")
    submissions = importlib.import_module("viva_scale.submissions")
    root, folder = made
    course, config = load(root)
    (submission,) = course.submissions([TINY], "right")
    task = submissions.Submissions(clusteraddress.Cluster(), Filing(course, config), 30.0, 0.0)
    job = Job(submission, Finding(), folder / "material")
    assert task.known(job).digest
    marked = task.kept(job, msgspec.msgpack.encode(Marked(passed)))
    assert marked == Marked(problem="its worker sent the reply to another request")


def test_the_same_bytes_come_to_the_same(made, grader):
    _, folder = made
    material = Material.from_bytes((folder / "material").read_bytes())
    package = (folder / "wrong.package").read_bytes()
    one, other = (msgspec.msgpack.decode(grade(package, material, grader), type=Passed) for _ in range(2))
    assert (timeless(one.record), one.notebooks, one.graded) == (timeless(other.record), other.notebooks, other.graded)


def test_of_what_was_submitted_ordinary_files_lie_beside_the_notebook_and_replace_nothing(tmp_path):
    config = Config()
    config.Autograde.exclude_overwriting = {"ps": ["own.py"]}
    files = {
        "data.csv": b"ours",
        "same.csv": b"1",
        "own.py": b"stub",
        "folder/a": b"",
        ".viva-tests/x": b"",
        "b/c": b"",
    }
    material = Material("ps", config, None, {}, None, {}, {}, None, files)
    folder, build = tmp_path / "submitted", tmp_path / "build"
    sent = {"data.csv": b"theirs", "same.csv": b"1", "own.py": b"mine", "b": b"", "new/deep.py": b"2", "one.ipynb": b""}
    for name, content in sent.items() | {("large", b"1" * 2001), ("closed", b""), ("limit", b"1" * 2000)}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "folder").write_bytes(b"")
    (folder / "closed").chmod(0o200)
    (folder / "link").symlink_to(folder / "data.csv")
    directory = CourseDirectory()
    directory.max_file_size = 2
    assert lay_out(Submission("ps", "anna", folder), material, build, directory) == ["data.csv"]
    laid = {str(path.relative_to(build)): path.read_bytes() for path in build.rglob("*") if path.is_file()}
    kept = {name: files[name] for name in files if name != "own.py" and name != ".viva-tests/x"}
    assert laid == kept | {"own.py": b"mine", "new/deep.py": b"2", "limit": b"1" * 2000}
