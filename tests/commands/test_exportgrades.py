"""`viva export --as`: what it says, writes and refuses."""

from __future__ import annotations

import io
import json
import shutil

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from plugins.term.tests.sheets.classroom import PS, enter, found, grade, page
from viva.commands.exportgrades import class_tables
from viva.course.gradebook.results import Results
from viva.course.grades.standing import Status
from viva.record import SubmissionRecord
from viva_term.lms.rosterfile import Entry

HEAD = f"Student,ID,SIS Login ID,Section,{PS} (11)\n"
ROWS = '"Lee, Anna",103,alee,Monday,\n"[red]Bo, Bo",104,bo,Monday,2\n'


@pytest.fixture(scope="module")
def founded(tmp_path_factory):
    root = found(tmp_path_factory.mktemp("export") / "course")
    enter(root, Entry("alee", "Anna", "Lee", "", "103", "alee"), Entry("bo", "Bo", "[red]Bo", "", "104", "bo"))
    grade(root, "alee", 3.0)
    grade(root, "bo", 12.5, days_late=1)
    (root / "gradebook.csv").write_text(HEAD + ROWS)
    return root


@pytest.fixture
def course(founded, tmp_path):
    return shutil.copytree(founded, tmp_path / "course")


def files(course) -> set[str]:
    return {path.name for path in course.iterdir() if path.is_file() and not path.name.startswith("gradebook.db")}


def test_a_dry_run_tells_what_would_be_written_and_writes_nothing(course, viva):
    before = files(course)
    tried = viva("export", PS, "--as=canvas", "--into=gradebook.csv", "--dry-run")
    assert (tried.status, tried.err, files(course)) == (0, "", before)
    for piece in (f"│ {PS} (11) ", "2 → 11.25", "[red]Bo, Bo", "One student is late", "Nothing was written."):
        assert piece in tried.out
    done = viva("export", PS, "--as=canvas", "--into=gradebook.csv")
    assert "In Canvas: Grades, Import" in done.out
    assert files(course) - before == {f"{PS}-canvas.csv"}
    wanted = (HEAD + ROWS).replace("alee,Monday,", "alee,Monday,3").replace("bo,Monday,2", "bo,Monday,11.25")
    assert (course / f"{PS}-canvas.csv").read_text() == wanted
    assert (course / "gradebook.csv").read_text() == HEAD + ROWS


def test_the_document_names_everybody(course, viva):
    told = json.loads(viva("export", PS, "--as=canvas", "--into=gradebook.csv", "--raw", "--json", "--dry-run").out)
    assert (told["system"], told["assignment"], told["column"], told["dry_run"]) == ("canvas", PS, f"{PS} (11)", True)
    assert told["written"] == [{"student": "alee", "name": "Lee, Anna", "what": "3"}]
    assert told["replaced"] == [{"student": "bo", "name": "[red]Bo, Bo", "what": "2 → 12.5"}]
    assert told["warnings"] == ["One student is late, and late penalties are not subtracted, because of --raw."]


def test_the_file_may_be_named_and_be_the_sheet_itself(course, viva):
    assert viva("export", PS, "--as=canvas", "--into=gradebook.csv", "--to=gradebook.csv").status == 0
    assert ",Monday,11.25" in (course / "gradebook.csv").read_text()


@pytest.mark.parametrize("form", ["csv", "json", "xlsx"])
def test_all_scores_in_each_form(course, viva, form):
    tried = viva("export", f"--as={form}", "--dry-run")
    assert tried.status == 0 and "Nothing was written" in tried.out and f"grades.{form}" not in files(course)
    assert viva("export", f"--as={form}").status == 0
    assert f"grades.{form}" in files(course)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ([], "grades.csv"),
        (["--as=json"], "grades.json"),
        ([PS, "--as=canvas", "--into=gradebook.csv"], f"{PS}-canvas.csv"),
    ],
)
def test_the_scores_of_one_student_take_the_place_of_the_classs_in_no_file(course, viva, options, name):
    assert viva("export", *options).status == 0
    whole, before = (course / name).read_bytes(), files(course)
    found = viva("export", "--student=bo", *options)
    assert (found.status, found.err) == (0, "") and "bo" in found.out
    assert (
        f"Nothing was written, because {name} has the scores of the whole class, and --student selects only some."
    ) in found.out
    assert ((course / name).read_bytes(), files(course)) == (whole, before)
    assert json.loads(viva("export", "--student=bo", "--json", *options).out)["file"] is None
    assert viva("export", "--student=bo", "--to=bo.out", *options).status == 0
    assert files(course) - before == {"bo.out"} and (course / name).read_bytes() == whole


def test_a_file_with_the_scores_of_some_assignments_is_said_to_hold_no_others(course, viva):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("ps2_test")
        gradebook.add_notebook("book", "ps2_test")
    shutil.copytree(course / "source" / PS, course / "source" / "ps2_test")
    assert f"4 rows are in {course / 'grades.csv'}." in viva("export").out
    assert f"2 rows are in {course / 'grades.csv'}, only of {PS}." in viva("export", PS).out


@pytest.mark.parametrize("options", [[], [PS, "--as=canvas", "--into=gradebook.csv"]])
@pytest.mark.parametrize(("to", "what"), [("nowhere/g.csv", "is in a folder that does not exist"), ("source", "is a")])
def test_a_file_that_cannot_be_is_refused_and_no_folder_is_made(course, viva, options, to, what):
    before = {*course.iterdir()}
    found = viva("export", f"--to={to}", *options)
    assert (found.status, found.out) == (2, "") and f"{course / to} {what}" in found.err
    assert "Name another file with --to." in found.err and {*course.iterdir()} == before


def test_pages_as_a_zip(course, viva):
    page(course, "alee")
    head = 'Identifier,"Full name",Grade,"Maximum grade","Last modified (grade)"\n'
    (course / "worksheet.csv").write_text(head + "Participant 1,Anna Lee,,25.00,-\n")
    done = viva("export", PS, "--as=moodle", "--into=worksheet.csv", "--feedback")
    assert done.status == 0 and f"{PS}-moodle-feedback.zip" in files(course)
    assert "has no page; run 'viva feedback' first" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--as=blackboard"], "There is no --as=blackboard. Choose one of: brightspace, canvas, csv"),
        (["--as=canvas", "--into=none.csv"], "The file none.csv does not exist"),
        (["--as=moodle"], "choose 'Download grading worksheet'"),
        (["--as=moodle", "--into=gradebook.csv"], "is not a known grading worksheet"),
        (["--as=gradescope", "--into=gradebook.csv"], "without --into"),
        (["--as=brightspace", "--feedback"], "cannot import feedback pages"),
        (["--raw"], "--raw works only with a learning system"),
        (["--as=xlsx", "--into=gradebook.csv"], "--into works only with a learning system"),
        (["--as=canvas", "--colum=x"], "Did you mean '--column'?"),
        (["--as=canvas", "--student=nobody"], "There is no student 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_sentences_and_nothing_is_written(course, viva, options, said):
    before = files(course)
    result = viva("export", PS, *options)
    assert (result.status, result.out, said in result.err) == (2, "", True)
    assert "Traceback" not in result.err and files(course) == before


def test_a_sheet_in_which_nobody_is_known_is_refused_with_what_one_row_lacks(course, viva):
    (course / "gradebook.csv").write_text(HEAD + '"Lee, Anna",903,X-Lee,Monday,\n"Bo, Bo",904,X-Bo,Monday,2\n')
    before = files(course)
    found = viva("export", PS, "--as=canvas", "--into=gradebook.csv")
    assert (found.status, found.out, files(course)) == (2, "", before)
    assert "no row of gradebook.csv clearly belongs to a student of this course. Line 2 has the name of 'alee'" in (
        found.err
    )
    assert "Read the roster of Canvas with 'viva roster FILE'" in found.err


def test_in_a_large_class_each_reason_why_a_cell_is_left_is_told_once(course, viva):
    names = [f"s{number:02}" for number in range(30)]
    enter(course, *(Entry(one, one, "Lee", "", f"9{one[1:]}", one) for one in names))
    rows = "".join(f'"Lee, {one}",9{one[1:]},{one},Monday,\n' for one in names)
    (course / "gradebook.csv").write_text(HEAD + ROWS + rows)
    (course / "excused.csv").write_text(f"assignment,student_id,reason\n{PS},s29,ill\n")
    found = viva("export", PS, "--as=canvas", "--into=gradebook.csv")
    assert found.status == 0 and "Lee, s00 and 28 more" in found.out
    assert found.out.count("not handed in") == 1
    told = json.loads(viva("export", PS, "--as=canvas", "--into=gradebook.csv", "--json").out)
    assert len(told["left"]) == 29, "the excused has a word of Canvas's"


def test_an_assignment_has_a_file_of_its_own(course, viva):
    shutil.copytree(course / "source" / PS, course / "source" / "ps2_test")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("ps2_test")
        gradebook.add_notebook("book", "ps2_test")
    result = viva("export", "--as=canvas")
    assert (result.status, f"Name one of: {PS}, ps2_test." in result.err) == (2, True)


def test_an_empty_gradebook_of_graded_work_is_not_called_a_course_before_its_release(course, viva):
    Results(course / "results.jsonl").add([SubmissionRecord(PS, "anna", graded="now", key="k")])
    (course / "gradebook.db").write_bytes(b"")
    result = viva("export", PS)
    assert result.status == 2
    assert f"has no submission of {PS}, but" in result.err
    assert "Run 'viva release" not in result.err


STUDENTS = ["demo-01", "anna-katharina.von-der-heide@students.example.org"]
ASSIGNMENTS = [f"ps{number}_name" for number in range(1, 9)]


def printed(width: int) -> tuple[str, int]:
    known = {"status": Status.GRADED, "score": 12.5, "max_score": 25.0}
    known |= {"seconds_late": 1, "needs_manual_grade": True}
    rows = [known | {"student_id": student, "assignment": name} for student in STUDENTS for name in ASSIGNMENTS]
    console = Console(width=width, record=True, file=io.StringIO())
    tables = class_tables(rows, ASSIGNMENTS, console)
    for table in tables:
        console.print(table)
    return console.export_text(), len(tables)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_name_and_no_score_is_cut_off_whatever_the_screen(width):
    text, tables = printed(width)
    assert "…" not in text
    assert text.count("(12.5*)") == len(STUDENTS) * len(ASSIGNMENTS)
    assert text.count(STUDENTS[1]) == tables and text.count("demo-01") == tables
    assert text.count("(100)") == len(STUDENTS), "a total with a score that waits is as open as that"
    assert text.count("total") == 1 and text.count(" 200 ") == 1
    assert (tables == 1) == (width == 200)


def test_a_screen_too_narrow_for_a_name_folds_it():
    text, tables = printed(40)
    assert "…" not in text and tables == len(ASSIGNMENTS)


def test_the_table_of_the_class_shows_the_names_by_which_it_is_sorted(course, viva):
    printed = viva("export", PS).out
    assert "│ Lee, Anna" in printed and "│ [red]Bo, Bo" in printed
