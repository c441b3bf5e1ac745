"""A corrected test over a graded class: the what-if touches nothing, and what is applied is what it said."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import sqlite3

import pytest
import sqlalchemy
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from tests import handmade
from tests.conftest import load
from tests.faults import kill_at
from viva.course.gradebook import journal
from viva.course.grading import batch
from viva.course.grading.batch import autograde
from viva.course.grading.overview import overview
from viva.course.processes import leftovers
from viva.course.regrade.regrading import Comparison, Regrade
from viva.course.regrade.trialcopy import LOG, shadow
from viva.pages.report import live_page
from viva.verdict import CourseError

pytestmark = [pytest.mark.xdist_group("regrade"), pytest.mark.usefixtures("processes")]

TINY = "tiny"
TESTS = """### CHECK 1: two doubles to four
assert double(2) == 4
### CHECK 2: a half doubles to one
### BEGIN HIDDEN TESTS
assert double(0.5) == 2
### END HIDDEN TESTS
### CHECK 3: minus one
### BEGIN HIDDEN TESTS
assert double(-1) == -2
### END HIDDEN TESTS"""
CORRECTED = TESTS.replace("== 2\n", "== 1\n").replace("two doubles to four", "twice two is four")
CORRECTED = CORRECTED.replace("minus one", "a negative number").replace("double(-1) == -2", "double(-2) == -4")
ANSWERS = {
    "anna": "def double(x):\n    return 2 * x",
    "bo": "def double(x):\n    return 2 * max(x, 1)",
    "carl": "def double(x):\n    return 4",
    "dora": "def double(x):\n    return 2 * x",
}


def write_source(root, tests: str = TESTS, text: str = "# Doubling", name: str = "test_double", points: float = 6):
    solution = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    cells = [
        new_markdown_cell(text, id="text"),
        handmade.answer("double", solution),
        handmade.graded(name, tests, points),
        handmade.text("why", "Why?", grade=True, solution=True, points=2),
    ]
    handmade.write_notebook(root / "source" / TINY / "tiny.ipynb", *cells)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Four students; carl's test cell, dora's test cell and dora's written answer were graded by hand."""
    root = handmade.empty_course(tmp_path_factory.mktemp("tiny"))
    write_source(root)
    course, config = handmade.released(root, TINY)
    for student, answer in ANSWERS.items():
        handmade.submit(root, student, TINY, double=answer, why="Because.")
    list(autograde(course, course.submissions([TINY]), config=config))
    with book(root) as gradebook:
        for student, cell, score in (("carl", "test_double", 5), ("dora", "why", 1.5), ("anna", "why", 2)):
            grade = gradebook.find_grade(cell, "tiny", TINY, student)
            grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.find_comment("why", "tiny", TINY, "dora").manual_comment = "Say more."
        gradebook.db.commit()
    return root


@pytest.fixture
def course(graded, tmp_path, monkeypatch):
    root = tmp_path / "course"
    shutil.copytree(graded, root)
    monkeypatch.chdir(root)
    return root


def book(root) -> Gradebook:
    return Gradebook(f"sqlite:///{root / 'gradebook.db'}")


def grades(root) -> dict:
    with book(root) as gradebook:
        return {
            (submission.student_id, grade.name): (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for submission in gradebook.assignment_submissions(TINY)
            for grade in submission.notebooks[0].grades
        }


def scores(root) -> dict:
    return {place: grade[:2] for place, grade in grades(root).items()}


def files(root) -> dict:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and not {"report", ".rehearsals"} & set(path.parts)
    }


def rows(root, folder: str = ".") -> list[dict]:
    with (root / "report" / "regrade" / folder / f"{TINY}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_what_if_touches_nothing_and_what_is_applied_is_what_it_said(course, viva):
    write_source(course, CORRECTED)
    before, old = files(course), grades(course)
    assert old["anna", "test_double"] == (4, None, False)
    said = viva("regrade", TINY, "--what-if", "--no-audit")
    assert said.status == 0, said.text
    assert files(course) == before
    promised = rows(course, "what-if")
    changed = {(row["student"], row["check"]): (row["old"], row["new"]) for row in promised}
    assert changed["anna", "a half doubles to one"] == changed["dora", "a half doubles to one"] == ("0", "2")
    assert changed["bo", "a half doubles to one"] == ("2", "0")
    assert changed["anna", "minus one"] == ("3", "")
    assert changed["anna", "a negative number"] == ("", "3")
    assert changed["anna", "score"] == ("6", "8")
    assert ("carl", "score") not in changed
    listed = {tuple(cell.strip() for cell in line.strip("\u2502").split("\u2502")) for line in said.out.splitlines()}
    assert ("test_double", "a half doubles to one", "0 -> 2", "2: anna, dora") in listed, said.out
    assert ("test_double", "a half doubles to one", "2 -> 0", "1: bo") in listed
    assert ("", "score", "+2", "2: anna, dora") in listed
    assert "it passes now" not in said.out
    full = viva("regrade", TINY, "--what-if", "--no-audit", "--verbose").out
    assert full.count("it passes now; before: failed") >= 2 and "anna" in full
    (why,) = [row["why"] for row in promised if (row["student"], row["check"]) == ("anna", "a half doubles to one")]
    assert why.startswith("it passes now; before: failed")
    assert "Scores: 2 higher, 1 lower, 1 the same; +2 points in total." in said.out
    assert "test_double: the check 'a half doubles to one' has a new text, in hidden lines only." in said.out
    assert "test_double: the check 'minus one' was removed." in said.out
    assert "test_double: the check 'two doubles to four' is called 'twice two is four' now." in said.out
    assert not [check for _, check in changed if "four" in check], "a new title changes nobody"
    assert "Nothing was changed. To change the scores, run: viva regrade tiny" in said.out

    earlier = '{"event": "begun", "assignment": "another"}\n'
    (course / LOG).write_text(earlier)
    done = viva("regrade", TINY, "--no-audit")
    assert done.status == 0, done.text
    assert rows(course) == promised
    new = grades(course)
    assert new["anna", "test_double"] == (6, None, False)
    assert new["carl", "test_double"][1:] == (5, True), "a grade by hand on a changed test waits for a grader"
    assert new["dora", "why"] == old["dora", "why"] == (None, 1.5, False)
    assert new["bo", "why"] == old["bo", "why"]
    assert "the points of the question changed:\n  carl: test_double (5 of 6 points)\n" in done.out
    with book(course) as gradebook:
        assert gradebook.find_comment("why", "tiny", TINY, "dora").manual_comment == "Say more."
        assert gradebook.find_submission(TINY, "anna").score == 8
    log = (course / LOG).read_text()
    assert log.startswith(earlier), "the log is only added to"
    events = [json.loads(line) for line in log.removeprefix(earlier).splitlines()]
    assert [event["event"] for event in events] == ["begun", *["changed"] * len(promised), "ended"]
    assert events[0]["before"]["anna"]["cells"]["tiny/test_double"]["auto"] == 4
    assert events[-1]["changed"] == 4

    again = viva("regrade", TINY, "--no-audit")
    assert (
        again.status == 0 and "still lists the changes of an earlier regrade" in again.out and rows(course) == promised
    )


@pytest.mark.slow
def test_every_page_says_the_same_of_submissions_that_an_older_release_graded(course, viva):
    """A teacher released a correction, and graded a part of the class again."""
    sentence = "{} graded with an older release"

    def what_if() -> str:
        return viva("regrade", TINY, "--what-if", "--no-audit").out

    def pages() -> list[str]:
        """The terminal, the report, and formgrader's list."""
        said = viva("report", TINY).out
        assert ("older release" in viva("feedback", TINY).out) == ("older release" in said)
        live = live_page(load(course)[0], [TINY], "", hidden=True)
        return [said, (course / "report" / "index.html").read_text(), live]

    def released(**changes) -> None:
        write_source(course, **changes)
        assert viva("release", TINY, "--no-audit").status < 2  # 1: the solution does not pass

    released(text="# Doubling, once more")
    assert "older release" not in overview(course) + what_if(), "no score depends on a text"
    released(tests=CORRECTED)
    assert f"4 submissions, {sentence.format(4)}" in overview(course)
    reason = sentence.format("4 submissions were")
    assert f"Next: viva regrade {TINY} --what-if    ({reason})" in overview(course)
    said = what_if()
    assert f"{reason} than the present one, so scores can change." in said
    assert "The checks are the same as in the present release." in said
    assert viva("grade", TINY, "--student=anna").status == 0
    assert f"4 submissions, {sentence.format(3)}" in overview(course)
    assert all(sentence.format("3 submissions were") in said for said in [what_if(), *pages()])
    assert viva("regrade", TINY).status == 0, "what was released without an audit is graded without one"
    assert "older release" not in "".join([overview(course), what_if(), *pages()])


@pytest.mark.slow
def test_a_renamed_cell_is_refused_in_a_sentence_and_nothing_is_touched(course, viva):
    write_source(course, name="test_other")
    before = files(course)
    for options in (["--what-if"], []):
        result = viva("regrade", TINY, "--no-audit", *options)
        assert result.status == 2
        assert "But test_double was removed, test_other was added. Nothing was changed." in result.err
        after = files(course)
        if not options:  # what was to be applied held the lock
            lock = str(course / "gradebook.db.lock")
            after[lock] = before[lock]
        assert after == before


@pytest.mark.slow
def test_a_regrade_that_was_stopped_goes_on_and_compares_with_what_stood_before_it(course):
    write_source(course, CORRECTED)
    opened, config = load(course)
    first = Regrade(opened, TINY, config)
    first.release()
    next(first.grade(workers=1))
    second = Regrade(opened, TINY, config)
    assert second.resumed
    assert second.release()[0].startswith("The student version changed (test_double)."), "since the first began"
    assert (second.before, second.edition) == (first.before, first.edition)
    second.finish()
    assert not Regrade(opened, TINY, config).resumed


def outcome(root) -> dict:
    """What a regrade comes to, without the times at which it was done."""
    pages = {str(path): data for path, (data, _) in files(root / "release").items()}
    lines = map(json.loads, (root / LOG).read_text().splitlines())
    changes = {(event["student"], event["check"], event["new"]) for event in lines if event["event"] == "changed"}
    return {"grades": grades(root), "list": rows(root), "pages": pages, "log": changes}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_regrade_that_is_killed_at_a_step_is_told_of_and_the_same_again_comes_to_the_same(course, viva, monkeypatch):
    """By the steps that it writes down, which the repetition does not read: a kill behind each is enough."""
    for student in ("bo", "carl"):
        shutil.rmtree(course / "submitted" / student)
    write_source(course, CORRECTED)
    command = "regrade", TINY, "--no-audit"
    start, names, note = shutil.copytree(course, course.parent / "start"), [], journal.note
    with monkeypatch.context() as patch:
        patch.setattr(journal, "note", lambda path, name, lost=0: names.append(name) or note(path, name, lost))
        assert viva(*command).status == 0
    whole = outcome(course)
    assert len(names) == len(set(names)) == 7 and not (course / journal.FOLDER).exists()
    for moment in [("", "intended"), *((name, "noted") for name in names)]:
        shutil.rmtree(course)
        shutil.copytree(start, course)
        kill_at(moment, lambda: viva(*command))
        told = viva("export", TINY)
        assert "was stopped before its end; run it again to finish it" in told.err.replace("\n", " "), moment
        with pytest.raises(CourseError, match="Nothing was sent"):
            journal.require_whole(load(course)[0], TINY)
        assert viva(*command).status == 0, moment
        assert outcome(course) == whole, moment
        assert not (course / journal.FOLDER).exists()


def test_what_cannot_be_regraded_is_said_in_a_sentence(course, viva):
    assert "Name one assignment" in viva("regrade").err
    assert "There is no assignment 'tyni'. Did you mean 'tiny'?" in viva("regrade", "tyni").err
    shutil.rmtree(course / "submitted" / "anna")
    opened, config = load(course)
    (course / "submitted" / "bo" / TINY / "timestamp.txt").write_text("2026-09-14 10:00:00 UTC")
    gone, again = Regrade(opened, TINY, config).remarks()
    assert gone.startswith("anna: the submission is missing in ")
    assert again.startswith("bo: submitted again after grading")


def test_a_score_that_changes_by_lateness_says_so(course):
    opened, config = load(course)
    regrade = Regrade(opened, TINY, config)
    regrade.before["anna"] |= {"score": 99, "late": 3}
    regrade.before["dora"] |= {"score": 99}
    del regrade.before["dora"]["late"]  # as an older Viva wrote it
    why = {change.student: change.why for change in regrade.finish().changes}
    assert why == {
        "anna": "the total, with a late penalty of 0 instead of 3",
        "dora": "the total",
    }


def test_who_was_graded_since_a_stopped_regrade_began_is_graded_again_too(course):
    opened, config = load(course)
    first = Regrade(opened, TINY, config)
    del first.before["bo"]
    first._say(("begun", {"tests": first.edition.tests, "before": first.before | {"gone": first.before["anna"]}}))
    second = Regrade(opened, TINY, config)
    assert second.resumed
    assert [one.student for one in second.submissions()] == ["anna", "bo", "carl", "dora"]
    assert second.finish() == Comparison([], [], []), "who is no more in the gradebook changes nothing"


def test_who_was_not_graded_again_changes_nothing_when_a_check_has_another_title(course):
    opened, config = load(course)
    regrade = Regrade(opened, TINY, config)
    with book(course) as gradebook:
        cell = gradebook.find_source_cell("test_double", "tiny", TINY)
        cell.source = TESTS.replace("two doubles to four", "twice two is four")
        gradebook.db.commit()
    assert regrade.finish() == Comparison([], [], []), "a new title is nothing that a human should look at"


def test_where_a_cell_that_is_graded_by_hand_is_worth_less_a_human_looks_again(course):
    opened, config = load(course)
    regrade = Regrade(opened, TINY, config)
    with book(course) as gradebook:
        gradebook.find_grade_cell("why", "tiny", TINY).max_score = 1
        gradebook.db.commit()
    assert regrade.finish() == Comparison([], ["anna: why (2 of 1 point)", "dora: why (1.5 of 1 point)"], [])
    assert grades(course)["dora", "why"] == (None, 1.5, True)


@pytest.mark.parametrize("command", ["regrade", "release"])
def test_nobody_grades_while_a_correction_is_released(course, viva, monkeypatch, command):
    held = []

    def released(*_, **__):
        with (course / batch.LOCK).open() as lock:
            held.append(not leftovers._take(lock.fileno()))
        raise CourseError("Seen.")

    monkeypatch.setattr("viva.course.regrade.regrading.release", released)
    monkeypatch.setattr("viva.commands.author.release", released)
    monkeypatch.setattr("viva.course.regrade.regrading.shadow", lambda *_: contextlib.nullcontext(load(course)))
    result = viva(command, TINY, "--no-audit")
    assert (result.status, result.err, held) == (2, "Seen.\n", [True])


def test_a_release_over_graded_submissions_says_what_changes_and_what_to_do_next(course, viva):
    write_source(course, CORRECTED)
    result = viva("release", TINY, "--no-audit")
    assert result.status == 0, result.text
    assert f"Students who still work on this assignment need the new release/{TINY}." in result.out
    assert "the check 'a half doubles to one' has a new text, in hidden lines only." in result.out
    assert (
        "Not graded with the new release yet: 4 submissions. 'viva regrade tiny --what-if' lists the scores "
        "that would change" in result.out
    )
    again = viva("release", TINY, "--no-audit")
    assert "graded again" not in again.out, "nothing changed"


@pytest.mark.parametrize(
    ("tests", "points"),
    [(CORRECTED, 6), (TESTS.replace("CHECK 3", "CHECK 4"), 7), ("assert double(2) == 4", 9)],
    ids=["text", "points", "points without checks"],
)
def test_while_a_correction_waits_everybody_is_graded_by_what_is_out_and_that_is_said(course, viva, tests, points):
    before = scores(course)
    write_source(course, tests, points=points)
    found = viva("grade")
    assert found.status == 0 and scores(course) == before, found.text
    assert f"{TINY}: graded as released on " in found.out and "In source/, test_double is different now." in found.out
    assert f"viva regrade {TINY} --what-if" in found.out
    again = viva("grade", "--json")
    assert {one["status"] for one in json.loads(again.out)["submissions"]} == {"unchanged"}, (
        "nothing that counts changed"
    )
    assert f"{TINY}: graded as released on " in again.err, "the correction still waits"
    assert viva("regrade", TINY, "--no-audit").status == 0
    assert "released tests and points" not in viva("grade", "--force").out


@pytest.mark.slow
def test_a_solution_or_a_file_of_data_that_changes_counts_from_the_next_release_on(course, viva):
    (path,) = (course / "source" / TINY).glob("*.ipynb")
    text = path.read_text()
    for change in (
        lambda: path.write_text(text.replace("return 2 * x", "return x + x")),
        lambda: (path.parent / "data.csv").write_text("1"),
    ):
        change()
        (found,) = {one["status"] for one in json.loads(viva("grade", "--json").out)["submissions"]}
        assert found == "unchanged"
        viva("release", TINY, "--no-audit")
        for status in ("done", "unchanged"):
            (found,) = {one["status"] for one in json.loads(viva("grade", "--json").out)["submissions"]}
            assert found == status


def test_a_check_that_nobody_passes_any_more_is_suspected(course):
    opened, config = load(course)
    regrade = Regrade(opened, TINY, config)
    for one in regrade.before.values():
        for check in one["cells"]["tiny/test_double"]["checks"].values():
            check["verdict"] = "passed"
    found = regrade.finish().suspects
    assert found == []
    results = course / "results.jsonl"
    results.write_text(results.read_text().replace('"passed"', '"error"'))
    (course / LOG).unlink()
    shutil.rmtree(course / "submitted" / "carl")
    regrade.before = Regrade(opened, TINY, config).before | regrade.before
    assert regrade.finish().suspects[0] == (
        "test_double: 3 passed the check 'two doubles to four' before, and now nobody passes it. "
        "Check that your own solution passes it."
    )


def test_feedback_that_is_older_than_a_grade_is_told_of(course, viva):
    (course / "feedback" / "anna" / TINY).mkdir(parents=True)
    assert "Feedback pages older than the grades: 1" in viva("grade", TINY, "--force").out
    assert "feedback" not in viva("grade", TINY).out


def test_a_what_if_sees_one_moment_of_the_gradebook(course, monkeypatch):
    opened, config = load(course)
    refused = []

    def insert(table):
        with contextlib.closing(sqlite3.connect(course / "gradebook.db", timeout=0)) as other:
            try:
                other.execute("UPDATE grade SET manual_score = 1")
                other.commit()
            except sqlite3.OperationalError as error:
                refused.append(str(error))
        return sqlalchemy.insert(table)

    monkeypatch.setattr("viva.course.regrade.trialcopy.insert", insert)
    with shadow(opened, TINY, config):
        assert set(refused) == {"database is locked"}
