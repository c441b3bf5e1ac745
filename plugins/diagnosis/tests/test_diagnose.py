"""A graded class is diagnosed, and pages show it: who reads what, and when."""

from __future__ import annotations

import contextlib
import datetime
import json
import shutil
import subprocess

import pytest

from plugins.diagnosis.tests.course import NAME, SUBMISSIONS
from tests.conftest import BIN, load
from viva.pages.additions import GRADER, REPORT, STUDENT, Asked
from viva_diagnosis import diagnoses, pageparts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("diagnosis")]
MEDIAN = "The median is subtracted in the place of the mean."
SUM = "The squares are added, and no mean is taken."


def viva(root, *words: str) -> str:
    done = subprocess.run([BIN / "viva", *words], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def diagnosed(means, tmp_path_factory):
    root = tmp_path_factory.mktemp("diagnosed") / "course"
    shutil.copytree(means, root)
    told = json.loads(viva(root, "diagnose", NAME, "--json"))
    return root, told["assignments"][0]


def due(root, hours: float) -> None:
    course, _ = load(root)
    with course.gradebook() as gradebook:
        moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)
        gradebook.find_assignment(NAME).duedate = moment.replace(tzinfo=None)
        gradebook.db.commit()


def findings(root) -> dict[str, list[tuple[list[str], list[str]]]]:
    course, _ = load(root)
    entries = diagnoses.read(diagnoses.path_of(course, NAME)).entries
    return {entry.student: [(one.names, one.mistakes) for one in entry.findings] for entry in entries}


def test_each_known_mistake_gets_its_name_in_other_words_too(diagnosed):
    root, told = diagnosed
    by_student = findings(root)
    assert by_student["bo"] == [(["centred"], ["median"])]
    assert by_student["carl"] == [(["spread"], ["sum"])]
    assert by_student["emil"] == [(["spread"], ["secret"])]
    assert by_student["gus"] == [(["centred"], ["first"])]
    assert told["lost"] == len(SUBMISSIONS) - 1


def test_two_mistakes_in_different_functions_are_recognised_separately(diagnosed):
    root, _ = diagnosed
    assert findings(root)["fay"] == [(["centred"], ["median"]), (["spread"], ["sum"])]


def test_a_right_answer_is_not_run_and_a_new_mistake_has_no_name(diagnosed):
    root, _ = diagnosed
    assert "anna" not in findings(root)
    assert findings(root)["dora"] == findings(root)["hal"] == []


def test_the_report_has_answers_that_behave_alike_without_a_name(diagnosed):
    course, _ = load(diagnosed[0])
    groups = {part.students: part.text for part in pageparts.parts(course, Asked(REPORT, NAME))}
    assert "centred gives the same wrong results" in groups["dora", "hal"]


def test_students_read_it_after_the_deadline_and_graders_and_the_report_always(diagnosed):
    root, _ = diagnosed
    course, _ = load(root)

    def texts(reader: str, student: str = "") -> list[str]:
        return [part.text for part in pageparts.parts(course, Asked(reader, NAME, "means", student))]

    due(root, 1)
    assert texts(STUDENT, "bo") == []
    assert MEDIAN in texts(GRADER, "bo")[0]
    due(root, -1)
    assert MEDIAN in texts(STUDENT, "bo")[0]
    assert texts(STUDENT, "anna") == texts(STUDENT, "dora") == []
    assert "Look at which number you subtract." in texts(STUDENT, "gus")[0]
    assert texts(STUDENT, "emil") == [] and "The root is forgotten." in texts(GRADER, "emil")[0]
    groups = {part.text: part.students for part in pageparts.parts(course, Asked(REPORT, NAME))}
    assert sorted(groups[next(text for text in groups if MEDIAN in text)]) == ["bo", "fay"]


def test_the_pages_have_the_sentences_and_lose_them_with_the_diagnosis(diagnosed):
    root, _ = diagnosed
    due(root, -1)
    viva(root, "feedback", NAME)
    viva(root, "report", NAME)

    def page(student: str) -> str:
        return (root / "feedback" / student / NAME / "means.html").read_text()

    assert MEDIAN in page("bo") and MEDIAN not in page("anna") and "known mistake" not in page("dora")
    assert SUM in page("fay") and MEDIAN in page("fay")
    report = (root / "report" / "index.html").read_text()
    assert "About wrong answers" in report and MEDIAN in report
    course, _ = load(root)
    kept = diagnoses.path_of(course, NAME).rename(root / "away.json")
    try:
        viva(root, "feedback", NAME)
        assert MEDIAN not in page("bo")
    finally:
        kept.rename(diagnoses.path_of(course, NAME))


def test_what_was_graded_since_is_shown_nowhere(diagnosed):
    root, _ = diagnosed
    course, _ = load(root)
    path = diagnoses.path_of(course, NAME)
    before = path.read_text()
    try:
        path.write_text(before.replace('"graded":"', '"graded":"0'))
        assert pageparts.parts(course, Asked(REPORT, NAME)) == []
        path.write_text("[]")
        assert pageparts.parts(course, Asked(REPORT, NAME)) == []
    finally:
        path.write_text(before)


def test_a_second_run_uses_what_is_kept(diagnosed):
    root, _ = diagnosed
    course, _ = load(root)
    kept = list(diagnoses.folder(course).glob("*.fingerprints.json"))
    before = [path.stat().st_mtime_ns for path in kept]
    with contextlib.chdir(root):
        viva(root, "diagnose", NAME)
    assert before and before == [path.stat().st_mtime_ns for path in kept]
