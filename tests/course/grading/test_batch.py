"""Whatever one submission is, the others are graded, several at a time."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, hand_in, load
from tests.faults import TINY, hand_in_tiny, make_course
from tests.mangling import KEEPING, plain
from viva.course.grading.batch import alone, autograde, grade_in_groups
from viva.folder import remove
from viva.record import Note
from viva.submission.submission import Status
from viva.verdict import SandboxError

pytestmark = pytest.mark.usefixtures("processes")

RIGHT = "right/einsum"


def statuses(course, **options):
    opened, config = load(course)
    outcomes = autograde(opened, opened.submissions([SHORT]), config=config, **options)
    return {outcome.submission.student: outcome for outcome in outcomes}


def scores(course):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {submission.student.id: submission.score for submission in gradebook.assignment_submissions(SHORT)}


def test_a_solution_that_fails_its_own_test_in_grading_is_told_with_the_test(tmp_path):
    """As in a course on git that was released with nbgrader: commands such as !git are not run in grading."""
    root = make_course(tmp_path / "course")
    shutil.rmtree(root / ".contracts")
    path = root / "source" / TINY / "tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = notebook.cells[0].source.replace(
        "return 2 * x", "lines = !seq 2\n    return len(lines) * x"
    )
    nbformat.write(notebook, path)
    hand_in_tiny(root, 2)
    opened, config = load(root)
    for made in (1, 0):  # rehearsed, and from what was kept of it
        told = []
        list(autograde(opened, opened.submissions([TINY]), config=config, tell=told.append))
        assert (
            sum(
                "made the contract again from source/, release/ and the gradebook" in sentence
                for sentence in told[:made]
            )
            == made
        )
        assert told[made:] == [
            f"{TINY}: your own solution does not pass 'test_double' in grading, so right answers may lose points. "
            f"'viva audit {TINY}' gives the reason."
        ]
        config.Autograde.force = True


def test_bad_submissions_are_refused_and_the_good_ones_graded(course):
    hand_in(course, "good", answer=RIGHT)
    hand_in(course, "twice", answer=RIGHT)
    (course / "submitted" / "twice" / SHORT / "Copy.ipynb").write_text("{}")
    old = hand_in(course, "old", answer=RIGHT)
    old.write_text(nbformat.v3.writes_json(nbformat.convert(nbformat.read(old, as_version=4), 3)))
    hand_in(course, "broken").write_text('{"cells": [')
    hand_in(course, "renamed", answer=RIGHT).rename(course / "submitted" / "renamed" / SHORT / "Untitled.ipynb")
    (course / "submitted" / "empty" / SHORT).mkdir(parents=True)
    hand_in(course, "pat[t]ern")
    quits = hand_in(course, "quits")
    notebook = nbformat.read(quits, as_version=4)
    for cell in notebook.cells:
        if "raise NotImplementedError" in cell.source:
            cell.source = "import os\nos._exit(0)"
    nbformat.write(notebook, quits)

    outcomes = statuses(course, workers=2)
    assert {student: outcome.status for student, outcome in outcomes.items()} == {
        "good": Status.DONE,
        "twice": Status.DONE,
        "old": Status.DONE,
        "broken": Status.REFUSED,
        "renamed": Status.DONE,
        "empty": Status.REFUSED,
        "pat[t]ern": Status.DONE,
        "quits": Status.DONE,
    }
    assert outcomes["twice"].notes == ("also submitted, not graded: 'Copy.ipynb'",)
    assert outcomes["renamed"].repairs["scaled_attention"] == [
        Note("graded_as", names=("Untitled.ipynb", "scaled_attention"))
    ]
    assert set(outcomes["quits"].verdicts) == {"killed"}, outcomes["quits"]
    full = scores(course)
    assert full["good"] == full["twice"] == full["old"] == full["renamed"] == 20
    assert full["quits"] == full["pat[t]ern"] == 0
    again = statuses(course, workers=2)
    assert again["good"].status is Status.UNCHANGED
    assert scores(course) == full


@pytest.mark.slow
def test_what_comes_while_a_batch_runs_is_graded_by_it(course):
    for student in ("first", "late", "later"):
        hand_in(course, student, answer=RIGHT)
    hand_in(course, "broken").write_text('{"cells": [')
    opened, config = load(course)
    known = {one.student: one for one in opened.submissions([SHORT])}
    coming = [["late"], ["broken", "later"]]

    def more() -> list:
        return [known[name] for name in coming.pop(0)] if coming else []

    with alone(opened):
        groups = list(grade_in_groups(opened, [known["first"]], config=config, workers=2, more=more))
    found = {ending.submission.student: ending.status for endings in groups for ending in endings}
    assert found == dict.fromkeys(("first", "late", "later"), Status.DONE) | {"broken": Status.REFUSED}
    assert scores(course) == {"first": 20, "late": 20, "later": 20}


@pytest.mark.slow
def test_what_was_handed_in_again_is_graded_again(course):
    stamp = course / "submitted" / "anna" / SHORT / "timestamp.txt"
    hand_in(course, "anna", answer=RIGHT)
    stamp.write_text("2026-09-14 10:00:00 UTC")
    assert statuses(course)["anna"].status is Status.DONE
    assert statuses(course)["anna"].status is Status.UNCHANGED
    stamp.write_text("2026-09-14 11:00:00 UTC")
    assert statuses(course)["anna"].status is Status.DONE


def test_a_folder_that_was_renamed_after_grading_is_noticed(course):
    hand_in(course, "anna", answer=RIGHT)
    statuses(course)
    shutil.move(course / "submitted" / "anna", course / "submitted" / "anna.lee")
    (note,) = statuses(course)["anna.lee"].notes
    assert "it is the submission of 'anna', but the folder" in note and "manual grades belong to that name" in note
    hand_in(course, "anna", answer=RIGHT)
    hand_in(course, "bo", answer=RIGHT)  # who copied is no folder that was renamed
    assert statuses(course)["bo"].notes == ()


def test_a_step_that_a_course_adds_is_done_with_what_was_graded_before_too(course):
    hand_in(course, "anna", answer=RIGHT)
    assert statuses(course)["anna"].status is Status.DONE
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("from viva.course.examining.steps import STEPS\n")
        file.write("tags = 'nbconvert.preprocessors.TagRemovePreprocessor'\n")
        file.write("c.Autograde.autograde_preprocessors = [*STEPS, tags]\n")
    assert statuses(course)["anna"].status is Status.DONE
    assert statuses(course)["anna"].status is Status.UNCHANGED


def test_force_in_the_config_grades_again(course):
    hand_in(course, "anna")
    opened, config = load(course)
    submissions = opened.submissions([SHORT])
    list(autograde(opened, submissions, config=config))
    for force, status in ((False, Status.UNCHANGED), (True, Status.DONE)):
        config.Autograde.force = force
        (outcome,) = autograde(opened, submissions, config=config)
        assert outcome.status is status


def test_what_the_machine_kept_from_being_graded_is_graded_by_the_next_batch(course, monkeypatch):
    def fail(run, **_):
        raise SandboxError("the fork server of the candidates has ended")

    hand_in(course, "anna", answer=RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr("viva.engine.grading.Run.finish", fail)
        outcome = statuses(course)["anna"]
    assert outcome.status is Status.FAILED
    assert set(outcome.verdicts) == {"ungraded"}
    assert statuses(course)["anna"].status is Status.DONE
    assert scores(course) == {"anna": 20}
    assert statuses(course)["anna"].status is Status.UNCHANGED


def test_an_assignment_that_was_not_released_keeps_no_other_from_being_graded(course, viva):
    hand_in(course, "anna", answer=RIGHT)
    other = course / "source" / "ps9_later"
    other.mkdir()
    (other / "later.ipynb").write_text((course / "source" / SHORT / "scaled_attention.ipynb").read_text())
    (course / "submitted" / "anna" / "ps9_later").mkdir()
    (course / "submitted" / "anna" / "ps10_unknown").mkdir()
    result = viva("grade")
    assert result.status == 1
    assert "ps9_later, anna: ps9_later is not in the gradebook. Run 'viva release ps9_later' first." in result.out
    assert re.search(r"Skipped, because there is no assignment with this name: \S+/ps10_unknown", result.out)
    assert scores(course) == {"anna": 20}


def test_a_source_that_is_no_notebook_is_said_to_be_none(course, viva):
    hand_in(course, "anna", answer=RIGHT)
    source = course / "source" / SHORT / "scaled_attention.ipynb"
    for text in ("{", "[]"):
        source.write_text(text)
        result = viva("grade", SHORT)
        assert result.status == 1
        assert f"anna: {source} cannot be read as a notebook" in result.out
        assert "Traceback" not in result.out + result.err
        assert scores(course) == {}


@pytest.mark.slow
def test_a_draft_beside_the_source_keeps_nobody_from_being_graded(course, viva):
    hand_in(course, "anna", answer=RIGHT)
    (course / "source" / SHORT / "draft.ipynb").write_text("")
    assert viva("grade", SHORT).status == 0
    assert scores(course) == {"anna": 20}


@pytest.mark.slow
def test_a_source_that_lacks_a_test_which_was_released_without_a_contract_grades_nobody(course, viva):
    hand_in(course, "anna", answer=RIGHT)
    source = course / "source" / SHORT / "scaled_attention.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "test_permuted"]
    nbformat.write(notebook, source)
    result = viva("grade", SHORT)
    assert result.status == 1
    assert f"{source} does not have the released test 'test_permuted'" in result.out
    assert scores(course) == {}


def mixed(course) -> None:
    """Right, wrong, mangled, random, deadly and no notebook at all."""
    hand_in(course, "right", answer=RIGHT)
    hand_in(course, "blank")
    hand_in(
        course, "random", self_attention="import random\nimport numpy as np\nprint(random.random(), np.random.rand())"
    )
    hand_in(course, "deadly", self_attention="import os\nos._exit(3)")
    hand_in(course, "broken").write_text("{")
    bare = hand_in(course, "bare", answer=RIGHT)
    notebook = plain(nbformat.read(bare, as_version=4))
    for way in ("split_answer", "strip_nbgrader", "strip_ids"):
        KEEPING[way](notebook, random.Random(1))
    bare.write_text(json.dumps(notebook))


def results(course, workers: int, order: random.Random) -> list[str]:
    """The lines of results.jsonl without times; the submissions were graded in some order."""
    opened, config = load(course)
    submissions = opened.submissions([SHORT])
    order.shuffle(submissions)
    for _ in autograde(opened, submissions, config=config, workers=workers):
        pass
    text = (course / "results.jsonl").read_text(encoding="utf-8")
    return re.sub(r'"(seconds|graded)":(?:[\d.e-]+|"[^"]*")', r'"\1":0', text).splitlines()


@pytest.mark.slow
def test_the_results_of_a_mangled_class_are_the_same_for_any_number_of_workers_and_any_order(course, tmp_path):
    for name in sorted(KEEPING)[::3]:
        path = hand_in(course, name.replace("_", "-"), answer=RIGHT)
        notebook = plain(nbformat.read(path, as_version=4))
        KEEPING[name](notebook, random.Random(name))
        path.write_text(json.dumps(notebook))
    mixed(course)
    found = []
    for workers in (1, 4):
        root = shutil.copytree(course, tmp_path / str(workers))
        found.append(results(root, workers, random.Random(workers)))
    assert found[0] == found[1]


def deepen(folder) -> None:
    place = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)


@pytest.mark.slow
def test_whatever_lies_beside_a_notebook_the_batch_goes_on_and_nobody_loses_a_point(course):
    folders = {
        name: hand_in(course, name, answer=RIGHT).parent for name in ("alone", "deep", "large", "odd", "taken", "wide")
    }
    deepen(folders["deep"])
    with (folders["large"] / "large.bin").open("wb") as file:
        file.truncate(10**11)
    os.mkfifo(folders["odd"] / "data.csv")
    (folders["odd"] / "closed").mkdir(0)
    for name in (b"\xff.csv", b"\xff.ipynb", b"a\nb", b"-rf", "\u202eb".encode(), b"y" * 255):
        Path(os.fsdecode(os.fsencode(folders["odd"]) + b"/" + name)).write_bytes(b"{}")
    for name in ("numpy.py", "sitecustomize.py", "viva.py", "random.pth", "nbgrader_config.py", "numpy/__init__.py"):
        (folders["taken"] / name).parent.mkdir(exist_ok=True)
        (folders["taken"] / name).write_text("raise SystemExit('mine')")
    for number in range(2000):
        (folders["wide"] / f"{number}.txt").touch()
    outcomes = statuses(course, workers=2)
    try:
        assert {outcome.reason for outcome in outcomes.values() if outcome.status is not Status.DONE} == set()
        assert set(scores(course).values()) == {scores(course)["alone"]} and scores(course)["alone"] > 0
        graded = course / "autograded" / "large" / SHORT
        assert [path.name for path in graded.iterdir() if path.stat().st_size > 10**8] == []
        again = statuses(course, workers=1)
        assert {outcome.status for outcome in again.values()} == {Status.UNCHANGED}
    finally:
        remove(folders["deep"])


def test_what_a_notebook_prints_raises_and_counts_is_written_whatever_it_is(course):
    own = {
        "half": "print('\\ud800')\nraise ValueError('\\udfff')",
        "metadata": "from IPython.display import publish_display_data as show\nshow({'a\\x00': 'x'}, {1: {1, 2}})",
        "less": "get_ipython().execution_count = -5\n1",
        "cap": "from viva.engine.dialogue.shell import Shell\nShell.outputs.left = 10**12\nprint('x' * 50_000_000)",
    }
    hand_in(course, "honest", answer=RIGHT)
    for student, source in own.items():
        path = hand_in(course, student, answer=RIGHT)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.insert(1, nbformat.v4.new_code_cell(source))
        nbformat.write(notebook, path)
    outcomes = statuses(course, workers=2)
    assert {outcome.status for outcome in outcomes.values()} == {Status.DONE}
    assert set(scores(course).values()) == {scores(course)["honest"]} and scores(course)["honest"] > 0
    assert sum(path.stat().st_size for path in (course / "autograded").rglob("*.ipynb")) < 25_000_000
