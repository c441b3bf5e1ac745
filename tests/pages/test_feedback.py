"""The page that a student gets back, state by state; whatever was handed in, it holds no hidden line."""

from __future__ import annotations

import ast
import contextlib
import json
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

import viva
from tests.conftest import BIN, load
from tests.doubling import ANSWERS, NOTEBOOK, RIGHT, SECRETS, SMALL, hand_in_small, released_small, write_small
from tests.handmade import empty_course
from viva.course.releasing.release import release
from viva.pages import feedback

pytestmark = [pytest.mark.xdist_group("feedback"), pytest.mark.usefixtures("processes")]
UNTOUCHED = "def twice(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"


def run(root, *command):
    return subprocess.run([BIN / command[0], *command[1:]], cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with one small assignment, for which every answer was handed in and graded."""
    root = tmp_path_factory.mktemp("small") / "course"
    released_small(root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(SMALL, duedate=datetime(2026, 9, 14, 12))
    for student, answer in ANSWERS.items():
        hand_in_small(root, student, answer)
    remember = "seen = []\n\n\ndef twice(x):\n    seen.append(x)\n    return x + x\n"
    hand_in_small(
        root, "remember", remember, more=(new_code_cell("print(seen)"), new_code_cell("seen"), new_code_cell("3"))
    )
    hand_in_small(root, "untouched", UNTOUCHED)
    hand_in_small(root, "unclosed", "def twice(x:\n    return x + x\n")
    hand_in_small(root, "emptied", "def twice(x):\n    pass\n")
    hand_in_small(root, "deliberate", "def twice(x):\n    raise NotImplementedError('only for words')\n")
    hand_in_small(root, "waiting", RIGHT, "Since addition is doubling.")
    hand_in_small(root, "same", "def twice(x):\n    return x + x  # by addition, as in the lecture\n")
    hand_in_small(root, "markers", RIGHT, "### BEGIN HIDDEN TESTS\nmine\n### BEGIN MARK SCHEME")
    late = hand_in_small(root, "late", RIGHT, "Because.")
    (late.parent / "timestamp.txt").write_text("2026-09-15 14:30:00 UTC")
    repaired = hand_in_small(root, "repaired", RIGHT)
    notebook = nbformat.read(repaired, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "test_twice"]
    nbformat.write(notebook, repaired)
    result = run(root, "viva", "grade")
    assert result.returncode == 0, result.stdout + result.stderr
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        where = "why", NOTEBOOK, SMALL, "late"
        gradebook.find_grade(*where).manual_score = 2
        gradebook.find_grade(*where).needs_manual_grade = False
        gradebook.find_comment(*where).manual_comment = "Say *which* <b>law</b>."
        gradebook.db.commit()
    assert run(root, "viva", "feedback").returncode == 0
    return root


@pytest.fixture
def course(graded, tmp_path):
    """A copy of that course for one test to work in; `viva` runs there."""
    root = tmp_path / "course"
    shutil.copytree(graded, root)
    return root


def path_of(root, student):
    return root / "feedback" / student / SMALL / f"{NOTEBOOK}.html"


def page(root, student):
    return BeautifulSoup(path_of(root, student).read_text(encoding="utf-8"), "html.parser")


def checks(root, student):
    """Verdict, points and the rest of what is said of each check, in order."""
    lines = page(root, student).select(".checks > li")
    return [(line["class"][0], line.select_one(".points").text, " ".join(line.text.split())) for line in lines]


def change_results(root, student, change):
    """Change a student's line of results.jsonl."""
    path = root / "results.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["student"] == student:
            change(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_a_right_answer_has_its_points_and_every_check_passed(graded):
    soup = page(graded, "right")
    assert soup.select_one(".big").text == "4 of 7 points"
    assert [(verdict, points) for verdict, points, _ in checks(graded, "right")] == [("passed", "1 of 1")] * 4
    assert "passed" in checks(graded, "right")[0][2]


def test_a_check_that_earned_a_part_is_partly_right_and_is_not_counted_as_passed(course, viva):
    def lose_a_part(record):
        first = record["notebooks"][NOTEBOOK]["checks"]["test_twice"][0]
        first |= {"verdict": "partly right", "earned": 0.5, "cause": {"kind": "credit", "names": ["0.5", "1"]}}

    change_results(course, "right", lose_a_part)
    assert viva("feedback", "--student", "right").status == 0
    assert [(verdict, points) for verdict, points, _ in checks(course, "right")][:2] == [
        ("partly", "0.5 of 1"),
        ("passed", "1 of 1"),
    ]
    assert "partly right" in checks(course, "right")[0][2]
    said = " ".join(page(course, "right").text.split())
    assert said.count("3 of 4 checks passed, 1 partly right") == 2  # at the top, and in the exercise
    assert page(course, "right").select_one(".exercise").has_attr("open")


def test_a_wrong_answer_reads_the_instructors_sentences(graded):
    lines = checks(graded, "wrong")
    assert [verdict for verdict, *_ in lines] == ["failed"] * 4
    assert "twice(2) is 2, not 4." in lines[0][2]
    assert "A word is not doubled." in lines[1][2]
    assert "which is wrong." in lines[2][2]
    assert "Not equal to tolerance" in lines[3][2]
    assert "Look at the first number." in lines[3][2]


def test_an_error_is_shown_with_the_students_own_lines_and_none_of_the_test(graded):
    visible, hidden, *_ = checks(graded, "error")
    assert "AttributeError: 'int' object has no attribute 'nothing'" in visible[2]
    assert "AttributeError: 'str' object has no attribute 'nothing'" in hidden[2]
    frames = page(graded, "error").select(".checks > li")[1].select(".frames pre")
    assert [frame.text for frame in frames] == ["return helper(x)", "return x.nothing"]
    assert "twice(hidden_word)" not in str(page(graded, "error"))


@pytest.mark.parametrize(
    ("student", "why"),
    [
        ("untouched", "Replace the line that raises NotImplementedError in twice"),
        ("emptied", "There is no answer in twice"),
    ],
)
def test_what_is_not_done_yet_is_one_line_and_no_mistake(graded, student, why):
    ((verdict, points, said),) = checks(graded, student)
    assert (verdict, points) == ("undone", "0 of 4")
    assert said.startswith("4 checks not done yet")
    assert why in said
    soup = page(graded, student)
    exercise = soup.select_one(".exercise")
    assert exercise.select_one(".state").text == "not done yet" and not exercise.has_attr("open")
    assert "4 belong to answers that are not done yet" in " ".join(soup.select_one(".score").text.split())
    assert "wrong answer" not in soup.text and "is None, not 4" not in soup.text


def test_a_cell_that_did_not_run_is_said_once_and_the_checks_that_it_cost_are_folded_with_their_verdicts(graded):
    ((verdict, points, text),) = checks(graded, "unclosed")
    assert (verdict, points) == ("lost", "0 of 4") and "4 checks" in text
    assert text.count("The cell 'twice' has a syntax error in line 1: ") == 1 and "def twice(x:" in text
    (folded,) = page(graded, "unclosed").select(".checks > .lost details")
    assert len(folded.select("li")) == 4 and "error: the code raised an error" in folded.text
    assert "Your code stopped with NameError" not in page(graded, "unclosed").text
    assert page(graded, "unclosed").select_one(".big").text == "0 of 7 points"


def test_what_raises_an_error_of_that_name_on_purpose_is_an_error(graded):
    lines = checks(graded, "deliberate")
    assert [verdict for verdict, *_ in lines] == ["error"] * 4
    assert "NotImplementedError: only for words" in lines[0][2]


def test_every_exercise_is_one_row_with_its_points_that_unfolds_where_something_is_wrong(graded):
    for student, is_open in (("right", False), ("wrong", True)):
        first, why = page(graded, student).select(".exercise")
        assert first.select_one("summary .tally").text == f"{0 if is_open else 4} of 4"
        assert first.has_attr("open") == is_open
        assert first.select_one("summary .state").text == ("0 of 4 checks passed" if is_open else "all checks passed")
        assert why.select_one("h3").text == "Why?"
        assert not page(graded, student).select(".exercise > summary :is(code, a)")


def test_code_that_never_ends_or_ends_its_process_is_said_to(graded):
    assert "timeout: it took too long" in checks(graded, "timeout")[1][2]
    assert "Your code did not finish in time." in checks(graded, "timeout")[1][2]
    assert "Look for a loop that never ends" in checks(graded, "timeout")[1][2]
    assert "killed: the process was ended" in checks(graded, "killed")[1][2]
    assert "Look for exit() or quit()" in checks(graded, "killed")[1][2]


def test_no_page_of_any_answer_holds_a_secret(graded):
    pages = list(graded.glob("feedback/*/*/*.html"))
    assert len(pages) == len(ANSWERS) + 10
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert [secret for secret in SECRETS if secret in text] == [], path


def test_what_a_later_cell_tells_of_a_hidden_check_is_left_out_with_a_sentence(graded):
    outputs = [output.text for output in page(graded, "remember").select("pre.output")]
    assert [output.startswith("[This output is not shown") for output in outputs] == [True, True, False]
    assert outputs[2] == "3"


def test_what_code_prints_is_shown_in_visible_checks_only(graded):
    lines = page(graded, "printing").select(".checks > li")
    assert "asked about 2" in lines[0].text
    assert all("asked about" not in line.text for line in lines[1:])


def test_a_late_hand_in_names_the_penalty(graded):
    text = " ".join(page(graded, "late").select_one(".score").text.split())
    assert "Late: \N{MINUS SIGN}1.2 points." in text
    assert "1 day 2 hours 30 minutes late: the deadline was 2026-09-14 12:00 (UTC)." in text
    assert "2 started days, 10 % each: 20 % of 6 points = 1.2." in text
    assert "6 \N{MINUS SIGN} 1.2 = 4.8." in text
    assert "4.8 of 7 points" in text


def test_a_graders_comment_and_score_reach_the_page_and_a_comment_cannot_break_it(graded):
    soup = page(graded, "late")
    (question,) = soup.select(".exercise:has(#q-why)")
    assert question.select_one(".tally").text == "2 of 3"
    assert "Say which law." in question.select_one(".comment").text
    assert "has to decide" not in soup.select_one(".score").text


def test_what_waits_for_a_grader_is_said_at_the_top(graded):
    said = page(graded, "waiting").select_one(".score").text
    assert "A grader will look at questions worth 3 points. The score can only rise." in said
    assert "waits for a grader" in page(graded, "waiting").select_one(".exercise:has(#q-why) summary").text


def test_that_a_score_can_only_rise_is_not_said_while_a_grader_looks_at_one_again(course, viva):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("test_twice", NOTEBOOK, SMALL, "waiting")
        grade.manual_score, grade.needs_manual_grade = 4, True
        gradebook.db.commit()
    assert viva("feedback", "--student=waiting").status == 0
    said = page(course, "waiting").select_one(".score").text
    assert "A grader will look at questions worth 7 points." in said and "rise" not in said


def test_a_doubt_about_a_passed_test_is_no_problem_of_the_file_and_the_score_may_fall(course, viva):
    """A page called a file damaged whose only note was that a test had read a source; and the score could only rise."""
    doubt = {"kind": "disguised", "names": ["twice"], "doubt": True, "tests": ["test_twice"]}
    change_results(course, "waiting", lambda record: record["notebooks"][NOTEBOOK].update(repairs=[doubt]))
    assert viva("feedback", "--student=waiting").status == 0
    score = page(course, "waiting").select_one(".score")
    assert "a test reads the source code of twice".lower() in score.text.lower()
    assert not score.select(".repairs") and "damaged" not in score.text and "rise" not in score.text


def test_repairs_are_named(graded):
    (repairs,) = page(graded, "repaired").select(".repairs")
    assert "test_twice" in repairs.text


def test_what_was_left_out_of_the_outputs_is_said_gently_and_only_then(course, viva):
    assert "left out" not in page(course, "wrong").text
    taken = {"kind": "shown_without", "numbers": [3], "names": ["<script>"]}
    change_results(course, "right", lambda record: record["notebooks"][NOTEBOOK].update(sanitized=[taken]))
    assert viva("feedback", "--student=right").status == 0
    text = page(course, "right").select_one("section[aria-labelledby=notebook]").text
    assert "Some parts are not shown on this page" in text and "This costs no points" in " ".join(text.split())
    assert "Parts of cell 3 were removed from the page: <script>." in text


def test_a_question_whose_heading_begins_with_a_number_is_named_so(course, viva):
    path = course / "autograded" / "right" / SMALL / f"{NOTEBOOK}.ipynb"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("## Exercise 1: twice", "## 1. Twice $x^2$"))
    assert viva("feedback", "--student=right").status == 0
    name = page(course, "right").select_one(".exercise h3")
    assert name.text.startswith("1. Twice") and name.math and not name.find(["ol", "p", "h1"])


def test_what_was_not_graded_is_told_apart_from_what_is_missing_and_the_graders_faults_are_named(course, viva):
    def change(record):
        first, second, *_ = record["notebooks"][NOTEBOOK]["checks"]["test_twice"]
        first |= {"verdict": "missing", "earned": 0, "cause": {"kind": "missing"}}
        second |= {"verdict": "ungraded", "earned": 0}
        second["cause"] = {"kind": "grader_failed", "names": ["KeyError: 'kumquat-31415'"]}
        record["faults"], record["wall"] = [{"what": "KeyError: kumquat-31415"}], False

    change_results(course, "right", change)
    assert viva("feedback", "--student=right").status == 0
    missing, ungraded, *_ = checks(course, "right")
    assert "This cell is missing in your submission." in missing[2]
    assert "The grader failed here, not your code." in ungraded[2]
    top = page(course, "right").select_one(".score").text
    assert "The grader itself failed once." in top
    assert "Graded without a sandbox." in top
    assert "kumquat" not in str(page(course, "right"))


def test_the_notebook_shows_the_students_cells_and_the_test_cells_as_released(graded):
    soup = page(graded, "wrong")
    assert soup.select_one("#c-twice pre").text == ANSWERS["wrong"].rstrip("\n")
    tests = soup.select_one("#c-test_twice pre").text
    assert "### CHECK 1: other numbers" in tests
    assert "HIDDEN" not in str(soup)
    assert soup.select_one("#c-why math")


def test_marking_schemes_are_shown_only_where_the_course_says_so(course, viva):
    assert "persimmon" not in str(page(course, "right"))
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace("show_marking_scheme = False", "show_marking_scheme = True"))
    assert viva("feedback", "--student=right").status == 0
    soup = page(course, "right")
    assert "persimmon" in soup.select_one("#q-why .scheme").text
    assert "MARK SCHEME" not in str(soup)
    assert "kumquat" not in str(soup)


def leak(root, student, line, notebook=NOTEBOOK):
    """Have a graded notebook show a line, spread over elements and entities."""
    path = root / "autograded" / student / SMALL / f"{notebook}.ipynb"
    graded = nbformat.read(path, as_version=4)
    spread = f"<b>{line[:9]}</b>\u200b{line[9:]}"
    output = nbformat.v4.new_output("display_data", data={"text/html": spread.replace(" ", "&#32;")})
    graded.cells.append(new_code_cell("show()", id="show", outputs=[output]))
    path.chmod(0o644)
    nbformat.write(graded, path)


@pytest.mark.parametrize(
    "line",
    [
        "result = twice(hidden_number)",
        "Two points for the persimmon argument, one for naming addition.",
        "    return x + x  # by addition, as in the lecture",
    ],
    ids=["of a test", "of a marking scheme", "of a solution"],
)
def test_a_page_with_a_hidden_line_is_withheld_and_an_older_one_removed(course, viva, line):
    leak(course, "right", line)
    assert path_of(course, "right").exists()
    result = viva("feedback", "--student=[rw]*g*t*")
    assert result.status == 1
    assert f"right: the page of {NOTEBOOK}.ipynb was not written" in " ".join(result.out.split())
    assert not path_of(course, "right").parent.exists()
    assert path_of(course, "wrong").exists()


@pytest.mark.slow
def test_of_several_notebooks_only_the_page_with_a_hidden_line_is_withheld(tmp_path):
    root = tmp_path / "course"
    write_small(empty_course(root))
    source = root / "source" / SMALL / f"{NOTEBOOK}.ipynb"
    shutil.copy(source, source.with_name("again.ipynb"))
    assert run(root, "viva", "release", "--no-audit").returncode == 0
    path = hand_in_small(root, "right", RIGHT)
    shutil.copy(path, path.with_name("again.ipynb"))
    for step in ("grade", "feedback"):
        assert run(root, "viva", step).returncode == 0
    pages = root / "feedback" / "right" / SMALL
    assert {page.name for page in pages.glob("*.html")} == {"again.html", f"{NOTEBOOK}.html"}

    leak(root, "right", "result = twice(hidden_number)", "again")
    result = run(root, "viva", "feedback")
    said = " ".join(result.stdout.split())
    assert result.returncode == 1
    assert "right: the page of again.ipynb was not written" in said
    assert "because students would see a line of a hidden test: result = twice" in said
    assert f"Look for this line in the notebook in autograded/right/{SMALL}; its other page was written" in said
    assert {page.name for page in pages.glob("*.html")} == {f"{NOTEBOOK}.html"}


def test_a_line_that_the_student_wrote_too_withholds_nothing(graded):
    assert "by addition, as in the lecture" in page(graded, "same").select_one("#c-twice").text


@pytest.mark.slow
def test_nbgraders_own_command_writes_the_same_page_and_both_write_it_the_same_every_time(course, viva):
    before = {path.parts[-3]: path.read_bytes() for path in course.glob("feedback/*/*/*.html")}
    shutil.rmtree(course / "feedback")
    assert run(course, "nbgrader", "generate_feedback", SMALL).returncode == 0
    assert {path.parts[-3]: path.read_bytes() for path in course.glob("feedback/*/*/*.html")} == before
    assert set(statuses(viva, "--workers=1").values()) == {"unchanged"}
    assert set(statuses(viva, "--workers=1", "--force").values()) == {"done"}
    assert {path.parts[-3]: path.read_bytes() for path in course.glob("feedback/*/*/*.html")} == before


def statuses(viva, *more):
    """What became of each student's feedback."""
    done = json.loads(viva("feedback", "--json", *more).out)["submissions"]
    return {one["student"]: one["status"] for one in done}


def test_a_page_that_would_come_out_the_same_is_left_alone_and_force_writes_it(course, viva):
    broken = hand_in_small(course, "broken", RIGHT)
    broken.write_text("no notebook")
    assert statuses(viva, "--student=broken") == {"broken": "done"}
    before = {path: path.stat().st_mtime_ns for path in course.glob("feedback/*/*/*.html")}
    assert set(statuses(viva).values()) == {"unchanged"}
    assert {path: path.stat().st_mtime_ns for path in course.glob("feedback/*/*/*.html")} == before
    assert statuses(viva, "--student=right", "--force") == {"right": "done"}
    assert path_of(course, "right").stat().st_mtime_ns > before[path_of(course, "right")]
    for student in ("right", "broken"):
        path_of(course, student).unlink()
    assert {one for one, status in statuses(viva).items() if status == "done"} == {"right", "broken"}


def by_hand(change):
    def apply(root):
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            change(gradebook, ("why", NOTEBOOK, SMALL, "right"))
            gradebook.db.commit()

    return apply


def edited(path, old, new):
    def apply(root):
        place = root / path
        place.chmod(0o644)
        text = place.read_text()
        assert old in text
        place.write_text(text.replace(old, new))

    return apply


def release_again(root, old, new):
    edited(f"source/{SMALL}/{NOTEBOOK}.ipynb", old, new)(root)
    course, config = load(root)
    with contextlib.chdir(root):
        release(course, SMALL, config=config)


PAGE = f"feedback/right/{SMALL}/{NOTEBOOK}.html"
CHANGES = {
    "a grade by hand": by_hand(lambda book, place: setattr(book.find_grade(*place), "manual_score", 1)),
    "a comment": by_hand(lambda book, place: setattr(book.find_comment(*place), "manual_comment", "Good.")),
    "the due date": by_hand(lambda book, _: setattr(book.find_assignment(SMALL), "duedate", datetime(2026, 1, 1))),
    "the graded notebook": edited(f"autograded/right/{SMALL}/{NOTEBOOK}.ipynb", "return x + x", "return x + x  # so"),
    "what a check came to": lambda root: change_results(
        root, "right", lambda record: record["notebooks"][NOTEBOOK]["checks"]["test_twice"][0].update(verdict="missing")
    ),
    "a repair": lambda root: change_results(
        root, "right", lambda record: record["notebooks"][NOTEBOOK].update(repairs=[{"kind": "nothing_own"}])
    ),
    "a hidden line": lambda root: release_again(root, "161803", "161804"),
    "what students may read": edited("nbgrader_config.py", "show_marking_scheme = False", "show_marking_scheme = True"),
    "the page, which somebody edited": edited(PAGE, "passed", "pessed"),
    "the page, which was cut off": lambda root: (root / PAGE).write_text((root / PAGE).read_text()[:-100]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_page_is_written_anew_when_anything_that_it_depends_on_changed(course, viva, what):
    CHANGES[what](course)
    assert statuses(viva, "--student=right") == {"right": "done"}
    assert statuses(viva, "--student=right") == {"right": "unchanged"}


def test_times_alone_change_no_page(course, viva):
    def later(record):
        record["graded"], record["seconds"] = "2030-01-01T00:00:00+00:00", 9.0
        record["notebooks"][NOTEBOOK]["checks"]["test_twice"][0]["seconds"] = 1.5

    change_results(course, "right", later)
    assert statuses(viva, "--student=right") == {"right": "unchanged"}


def test_a_student_cannot_break_the_page_with_a_marker(graded):
    assert "BEGIN HIDDEN TESTS\nmine" in page(graded, "markers").select_one("#c-why_answer").text


def test_what_was_not_graded_is_explained(course, viva):
    hand_in_small(course, "new", RIGHT)
    result = viva("feedback", "--student=new")
    assert result.status == 0
    assert "new: it was not graded" in result.out


def test_a_source_that_is_no_notebook_any_more_is_said_to_be_none_and_the_old_page_stays(course, viva):
    assert viva("feedback", "--student=right").status == 0
    before = path_of(course, "right").read_bytes()
    source = course / "source" / SMALL / f"{NOTEBOOK}.ipynb"
    source.write_text("{")
    assert viva("feedback", "--force", "--student=right").status == 0, "what was released counts"
    shutil.rmtree(course / ".contracts")
    result = viva("feedback", "--force", "--student=right")
    assert result.status == 1
    assert f"right: {source} cannot be read as a notebook: " in result.out and "BlueprintError" not in result.out
    assert path_of(course, "right").read_bytes() == before


def test_what_cannot_be_graded_has_a_page_that_says_why_until_it_is_handed_in_again(course, viva):
    path = hand_in_small(course, "scan", RIGHT)
    notebook = path.read_bytes()
    path.write_bytes(b"%PDF-1.7 <script>")
    (path.parent / "timestamp.txt").write_text("2026-09-15 14:30:00 UTC")
    (path.parent / "submission_secret.txt").write_text("s3cret")
    assert "is not a notebook but a PDF" in viva("grade", "--student=scan").out
    result = viva("feedback", "--student=scan")
    assert result.status == 0
    assert (
        "scan: its page says why it could not be graded: the file 'doubling.ipynb' is not a notebook but a PDF"
        in result.out
    )
    text = page(course, "scan").main.text
    assert "The file 'doubling.ipynb' is not a notebook but a PDF." in text
    assert "submit that file again" in text
    beside = path_of(course, "scan").parent
    assert (beside / "timestamp.txt").read_text().startswith("2026-09-15"), "nbgrader's exchange asks for it"
    assert (beside / "submission_secret.txt").read_text() == "s3cret"
    path.write_bytes(notebook)
    assert viva("grade", "--student=scan").status == 0
    assert viva("feedback", "--student=scan").status == 0
    assert page(course, "scan").select(".checks > li.passed")


def test_a_name_in_a_sentence_about_a_file_cannot_break_its_page(course, viva):
    path = hand_in_small(course, "named", RIGHT)
    path.write_bytes(b"%PDF-1.7")
    path.rename(path.with_name("<script>alert(1)<\u202e.pdf"))
    assert viva("feedback", "--student=named").status == 0
    text = path_of(course, "named").read_text(encoding="utf-8")
    assert "doubling.ipynb" in text and "&#39;&lt;script&gt;alert(1)&lt;" in text and "<script>alert" not in text
    assert "\u202e" not in text


def test_a_grader_mends_a_date_that_is_none_and_the_student_is_not_asked_to(course, viva):
    path = hand_in_small(course, "dated", RIGHT)
    (path.parent / "timestamp.txt").write_text("soon")
    assert "dated: it was not graded" in viva("feedback", "--student=dated").out
    assert not path_of(course, "dated").exists()


def test_a_course_that_was_graded_without_vivas_engine_gets_a_page_too(course, viva):
    (course / "results.jsonl").unlink()
    assert viva("feedback", "--student=wrong").status == 0
    assert "This cell has no checks." in page(course, "wrong").text


ROOT = Path(viva.__file__).parent
SEALED = {path for pattern in feedback.MADE_BY for path in ROOT.glob(pattern)}


@pytest.mark.parametrize("maker", ["page", "exercise", "explanation", "hidden", "typeset"])
def test_whatever_a_maker_of_pages_imports_is_in_the_seal(maker):
    imported = set()
    for node in ast.walk(ast.parse((ROOT / "pages" / f"{maker}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "viva":
            place = ROOT.joinpath(*node.module.split(".")[1:])
            modules = [place.with_suffix(".py"), *(place / f"{alias.name}.py" for alias in node.names)]
            imported |= {path for path in modules if path.is_file()}
    assert imported <= SEALED


def test_whatever_a_page_is_laid_out_with_is_in_the_seal():
    others = {"report.html", "audit.html", "refusal.html", "watch.html", "lists.html", "certificate.html"}
    templates = {path for path in (ROOT / "pages" / "templates").iterdir() if path.is_file()}
    assert {path for path in templates if path.name not in others} <= SEALED
