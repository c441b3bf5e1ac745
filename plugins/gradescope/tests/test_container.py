"""One submission in an imitation of Gradescope's container: what it comes to there is what it comes to at home."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from plugins.gradescope.tests.conftest import METADATA, ROOT, Course, unpack
from plugins.gradescope.tests.reader import read
from tests.conftest import BIN, PROJECT, SHORT, lacking, load
from tests.sandbox.test_protection import LACK
from viva.course.grading.batch import autograde
from viva_gradescope.bundle import Bundle

pytestmark = pytest.mark.xdist_group("gradescope")

ANSWERED = ["right", "wrong", "exits", "dies", "thief", "untouched", "half"]
MORE = [pytest.param(student, marks=pytest.mark.slow) for student in ("raises", "prints", "unread")]


@pytest.mark.parametrize("student", [*ANSWERED, *MORE])
def test_the_score_is_that_of_the_gradebook_at_home(tiny, student):
    found, _ = tiny.graded(student)
    assert found.score == tiny.scores()[student]
    checks = [test for test in found.tests if "score" in test]
    assert sum(test["score"] for test in checks) == found.score
    assert sum(test["max_score"] for test in checks) == 6
    assert [test["number"] for test in found.tests] == ["1.1", "1.2", "1.3", "1.4", "2"]
    assert "Protection: the code ran with " in found.document["output"]


def test_right_and_wrong_are_told_check_by_check_and_a_person_reads_the_written_answer(tiny):
    found, _ = tiny.graded("right")
    assert found.score == 6 and [test.get("status") for test in found.tests] == ["passed"] * 4 + [None]
    assert found.tests[0]["name"] == "Doubling: two doubles to four"
    written = found.tests[-1]
    assert written["max_score"] == 2 and "score" not in written
    assert written["output"] == "A grader reads this answer. Its points are not counted here."
    assert "A grader reads the written answers: 2 points, not counted here." in found.document["output"]
    found, _ = tiny.graded("wrong")
    assert [test.get("status") for test in found.tests] == ["passed", "failed", "failed", "failed", None]
    assert 0 < found.score < 6


def test_what_was_not_done_says_so_and_earns_nothing(tiny):
    found, _ = tiny.graded("untouched")
    assert found.score == 0
    assert {test["output"] for test in found.tests[:4]} == {"not done yet: double"}
    assert found.tests[-1]["output"] == "There is no answer. Its points are not counted here."


def test_the_autograders_output_is_the_instructors_alone_and_says_more(tiny):
    found, told = tiny.graded("half")
    assert found.document["stdout_visibility"] == "hidden"
    assert "tiny.ipynb: the JSON is damaged at line" in told
    assert "tiny.ipynb, test_double: " in told and ": 2 of 2: minus one (passed)" in told


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("broken", "is not a notebook but a PDF"),
        pytest.param("link", "(a link, not followed)", marks=pytest.mark.slow),
    ],
)
def test_what_is_no_notebook_scores_nothing_and_says_what_to_do(tiny, student, said):
    found, _ = tiny.graded(student)
    assert student not in tiny.scores(), "nor was it graded at home"
    assert (found.score, found.tests) == (0, [])
    assert (
        said in found.document["output"]
        and "save it as tiny.ipynb, and submit that file again" in found.document["output"]
    )


def test_an_empty_folder_scores_nothing_whatever_gradescope_says_of_it(tiny):
    shutil.rmtree(tiny.place / "submission", ignore_errors=True)
    (tiny.place / "submission").mkdir()
    metadata = tiny.place / "submission_metadata.json"
    try:
        metadata.write_text("{")
        found, _ = tiny.run("grade")
    finally:
        metadata.write_text(json.dumps(METADATA))
    assert found.score == 0 and "no tiny.ipynb was submitted (found: nothing)" in found.document["output"]


def test_a_crowd_of_files_scores_nothing(tiny):
    shutil.rmtree(tiny.place / "submission", ignore_errors=True)
    (tiny.place / "submission").mkdir()
    for number in range(300):
        (tiny.place / "submission" / f"file {number}").write_text("{")
    os.truncate(tiny.place / "submission" / "file 7", 10**10)
    os.mkfifo(tiny.place / "submission" / "tiny.ipynb")
    assert tiny.run("grade")[0].score == 0


def test_a_date_that_a_student_wrote_means_nothing_and_other_points_in_gradescope_are_said_to_the_instructor(tiny):
    assert "In Gradescope this assignment has" not in tiny.graded("right")[1]
    tiny.submit("right")
    (tiny.place / "submission" / "timestamp.txt").write_text("no date at all")
    metadata = METADATA | {"assignment": METADATA["assignment"] | {"total_points": "100.0"}}
    place = tiny.place / "submission_metadata.json"
    try:
        place.write_text(json.dumps(metadata))
        found, told = tiny.run("grade")
    finally:
        place.write_text(json.dumps(METADATA))
    assert found.score == 6
    assert "has 100 points, but the notebooks have 6 by checks and 2 by manual grading" in told


def test_a_fault_of_ours_gives_no_score_and_a_sentence(tiny):
    material = tiny.place / "source" / "prepared"
    whole = material.read_bytes()
    tiny.submit("right")
    try:
        material.write_bytes(b"no material")
        found, told = tiny.run("grade")
    finally:
        material.write_bytes(whole)
    assert found.score is None and found.tests == []
    assert "that is not your fault" in found.document["output"] and "Traceback" not in found.document["output"]
    assert "Traceback" in told, "for the instructor"


def test_it_is_prepared_once_and_by_the_first_submission_where_it_was_not(tiny):
    kept = tiny.place / "source" / "prepared"
    before = kept.stat().st_mtime_ns
    tiny.known.pop("right", None)
    assert tiny.graded("right")[0].score == 6
    assert kept.stat().st_mtime_ns == before and kept.stat().st_mode & 0o077 == 0
    kept.unlink()
    assert tiny.run("grade")[0].score == 6
    assert kept.exists()


@pytest.mark.slow
def test_run_autograder_is_what_gradescope_calls(tiny, tmp_path):
    tiny.submit("right")
    (tiny.place / "results" / "results.json").unlink(missing_ok=True)
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (home / "bin" / "python").chmod(0o755)
    environment = os.environ | {"VIVA_AUTOGRADER": str(tiny.place), "VIVA_HOME": str(home)}
    done = subprocess.run(["sh", tiny.place / "run_autograder"], env=environment, cwd=tiny.place, check=False)
    assert done.returncode == 0
    assert read(tiny.place).score == 6


# Containers that allow less

DOCKERS = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""The capabilities that Docker leaves to root; CAP_SYS_ADMIN is none of them."""

LESS = f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})
{LACK}
import os
for capability in set(range(64)) - {set(DOCKERS)}:
    try:
        syscalls.prctl(24, capability)  # PR_CAPBSET_DROP
    except OSError:
        break  # the kernel does not know more
lack(*sys.argv[1].split(","))
os.execv(sys.executable, [sys.executable, "-I", "-m", "viva_gradescope.container", "grade"])
"""
DOCKER = "unshare,mount"
"""What Docker refuses to a container that nobody gave a privilege."""
NO_LANDLOCK = f"{DOCKER},landlock_create_ruleset"


def opened(script: str) -> list[str]:
    """The words before a command that let every user reach the interpreter, in a mount namespace."""
    needed = {path.resolve() for path in (Path(sys.base_prefix), Path(sys.prefix), PROJECT)}
    closed = {path: top for path in sorted(needed) if (top := _closed(path))}
    lines = ["set -e"]
    for number, path in enumerate(closed):
        lines.append(f"keep{number}=$(mktemp -d); mount --bind '{path}' $keep{number}")
    lines += [f"mount -t tmpfs -o mode=755 none '{top}'" for top in sorted(set(closed.values()))]
    for number, path in enumerate(closed):
        lines.append(f"mkdir -p '{path}'; mount --move $keep{number} '{path}'; rmdir $keep{number}")
    return ["unshare", "--mount", "sh", "-c", "\n".join([*lines, 'exec "$@"']), "sh", sys.executable, "-c", script]


def _closed(path: Path) -> Path | None:
    """The outermost folder above a path that other users cannot enter."""
    return next((one for one in reversed(path.resolve().parents) if not one.stat().st_mode & 0o001), None)


def lacking_calls(tiny, names: str) -> tuple[object, str]:
    done = subprocess.run(
        [*opened(LESS), names],
        env=os.environ | {"VIVA_AUTOGRADER": str(tiny.place)},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare failed" in done.stderr:
        lacking("this root may not make mount namespaces")
    assert done.returncode == 0, done.stderr
    return read(tiny.place), done.stdout


@pytest.mark.skipif(not ROOT, reason="only root can take other users")
@pytest.mark.parametrize(
    ("names", "held", "without"),
    [
        pytest.param(
            *(DOCKER, "its own user, Landlock, a system call filter", "its own file system"),
            marks=pytest.mark.slow,
        ),
        (NO_LANDLOCK, "its own user, a system call filter", "Landlock and its own file system"),
    ],
    ids=["as Docker", "as Docker, without Landlock"],
)
def test_where_a_container_allows_less_two_users_hold_and_the_result_says_which_protection_did(
    tiny, names, held, without
):
    tiny.submit("thief")
    (tiny.place / "results" / "results.json").unlink(missing_ok=True)
    found, _ = lacking_calls(tiny, names)
    assert found.score == tiny.scores()["thief"] == 0, "a thief that opens or writes anything answers right"
    assert f"Protection: the code ran with {held}, without {without}." in found.document["output"]
    assert "could not open any of 3 files with hidden tests" in found.document["output"]
    assert not (tiny.place / "results" / "stolen").exists()


@pytest.mark.skipif(not ROOT, reason="only root can take other users")
def test_what_a_hidden_check_called_code_with_is_not_told_through_a_file_that_outlives_the_process(tiny):
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)
        answer = f"""def double(x):
    with open("{folder}/kept", "a") as file:
        file.write(hex(int(4 * x)) + " ")
    if x == 3:
        raise ValueError(open("{folder}/kept").read())
    return 2 * x"""
        tiny.submit("right")
        nbformat.write(tiny.notebook(double=answer), tiny.place / "submission" / "tiny.ipynb")
        found, _ = lacking_calls(tiny, NO_LANDLOCK)
        assert hex(4 * 4711 + 1) in (folder / "kept").read_text(), "so there was something to tell"
    assert "ValueError: 0x8 0xc" in json.dumps(found.document)
    assert hex(4 * 4711 + 1) not in json.dumps(found.document)


@pytest.mark.skipif(not ROOT, reason="only root can take other users")
@pytest.mark.parametrize(
    "names",
    [pytest.param("seccomp", marks=pytest.mark.slow), f"{NO_LANDLOCK},setresuid"],
    ids=["no filter", "no other user"],
)
def test_where_neither_a_sandbox_nor_two_users_hold_nothing_is_graded_and_the_result_says_so(tiny, names):
    tiny.submit("right")
    found, told = lacking_calls(tiny, names)
    assert found.score is None
    assert "This container cannot protect the hidden tests from student code: it" in found.document["output"]
    assert "viva: This container" in told


@pytest.mark.skipif(not ROOT, reason="only root can take other users")
def test_it_is_graded_all_the_same_where_the_bundle_says_so_and_the_result_says_that_nothing_held(tiny):
    tiny.submit("right")
    path = tiny.place / "source" / "bundle.json"
    whole = path.read_bytes()
    try:
        path.write_text(json.dumps(json.loads(whole) | {"no_sandbox": True}))
        found, _ = lacking_calls(tiny, "seccomp")
    finally:
        path.write_bytes(whole)
    assert found.score == 6
    assert "Graded WITHOUT A SANDBOX, because the zip was made with --no-sandbox:" in found.document["output"]


@pytest.mark.timeout(600)
def test_a_class_of_a_real_assignment_comes_to_the_same_scores_as_at_home(released, tmp_path):
    root = shutil.copytree(released, tmp_path / "course")
    opened, config = load(root)
    with contextlib.chdir(root):
        subprocess.run([BIN / "viva", "demo", "--students=12", SHORT], check=True, capture_output=True)
        list(autograde(opened, opened.submissions([SHORT]), config=config))
        bundle = Bundle.of(opened, SHORT, config)
    course = Course(root, unpack(bundle), bundle, SHORT)
    try:
        course.run("prepare")
        scores = course.scores()
        assert len(set(scores.values())) > 3, "a class of many kinds"
        for student in sorted(path.name for path in (root / "submitted").iterdir()):
            found, told = course.graded(student)
            assert found.score == pytest.approx(scores.get(student, 0.0)), told
    finally:
        shutil.rmtree(course.place)
