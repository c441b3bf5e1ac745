"""A grader's work in the browser: `make formgrader`, nbgrader's pages in JupyterLab, and the gradebook afterwards."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin

import nbformat
import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser import CONTRAST
from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.jupyter import logged_in, served, server_of
from viva.pages import report

pytestmark = pytest.mark.xdist_group("browser")

NOTEBOOK, TASK, ANSWER = "scaled_attention", "why_equivariant", "why_equivariant_answer"
WAITING, TO_REGRADE, DOUBTFUL = "ada", "grace", "mary"
"""Students besides the demo class. Each test that changes something has one of them for itself."""


@pytest.fixture(scope="module")
def graded(released, browser, tmp_path_factory) -> Path:
    """A course with a demo class and two students more, where one assignment is graded and formgrader is not yet."""
    root = tmp_path_factory.mktemp("formgrader") / "course"
    shutil.copytree(released, root)
    hand_in(root, WAITING, answer="right/einsum", name='NAME = "Augusta King"')
    hand_in(root, TO_REGRADE, answer="right/einsum", self_attention="raise NotImplementedError()")
    hand_in(
        root, DOUBTFUL, answer="right/einsum", self_attention="%%writefile mine.py\ndef self_attention(*a):\n    pass"
    )
    run(root, "viva", "demo", "--students=3")
    with load(root)[0].gradebook() as gradebook:
        late = gradebook.find_assignment(SHORT).duedate + timedelta(days=1, minutes=1)
    (root / "submitted" / WAITING / SHORT / "timestamp.txt").write_text(f"{late} UTC")
    run(root, "viva", "grade", SHORT)
    return root


def run(root: Path, program: str, *step: str) -> None:
    subprocess.run([BIN / program, *step], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def address(graded):
    with served(graded) as printed:
        yield printed


@pytest.fixture
def lab(browser, address):
    """JupyterLab in a browser without a network; afterwards no page of the server has reported an error."""
    errors = []
    with logged_in(browser, address) as page:
        page.on("console", lambda said: said.type == "error" and errors.append(f"{said.text} {said.location}"))
        page.on("response", lambda answer: answer.status >= 400 and errors.append(f"{answer.status} {answer.url}"))
        page.goto(f"{page.server}/lab")
        yield page
    assert errors == []


@pytest.fixture
def formgrader(lab: Page) -> Frame:
    """The frame of formgrader, opened from JupyterLab's menu."""
    lab.get_by_role("menuitem", name="Nbgrader").click()
    lab.get_by_role("menuitem", name="Formgrader").click()
    frame = lab.locator("iframe").element_handle().content_frame()
    expect(frame.get_by_role("heading", name="Manage Assignments")).to_be_visible()
    return frame


def submissions(root: Path) -> int:
    return len(list(root.glob(f"submitted/*/{SHORT}")))


def pieces(markdown: str) -> list[str]:
    """What stands in a text between its formulas and marks, and so looks the same on a page."""
    split = re.split(r"\$[^$]*\$|[*`#]+|^\s*(?:-|\d+\.)\s|\n\n", markdown, flags=re.MULTILINE)
    return [piece.strip() for piece in split if piece.strip()]


def source_of(path: Path, cell_id: str) -> str:
    (cell,) = [cell for cell in nbformat.read(path, as_version=4).cells if cell.id == cell_id]
    return cell.source


def test_make_formgrader_opens_formgrader_and_its_links_open_notebooks(lab, address):
    lab.goto(address)
    expect(lab.get_by_role("heading", name="Manage Assignments")).to_be_visible()
    folder = lab.locator("#main-table tr").filter(has_text=SHORT).locator("a[target=_blank]").first
    assert lab.request.get(urljoin(address, folder.get_attribute("href"))).ok


def test_formgrader_opens_on_the_whole_course_with_no_question_warning_or_error(graded, lab, formgrader):
    names = sorted(path.parent.name for path in graded.glob("source/*/*.ipynb"))
    assert SHORT in names
    expect(formgrader.locator("#main-table .name")).to_have_text(names)
    row = formgrader.locator("#main-table tr").filter(has_text=SHORT)
    expect(row.locator(".num-submissions")).to_have_text(str(submissions(graded)))
    expect(formgrader.locator(".alert")).to_have_count(0)
    assert lab.locator(".jp-Dialog, .Toastify__toast").all_inner_texts() == []


@pytest.mark.slow
def test_a_score_and_a_comment_typed_beside_marking_scheme_and_answer_are_in_the_gradebook(graded, lab, formgrader):
    formgrader.get_by_role("link", name="Manual Grading").click()
    # Until then a link of the same name is still on the page before.
    expect(formgrader.get_by_role("heading", name="Manual Grading")).to_be_visible()
    formgrader.get_by_role("link", name=SHORT, exact=True).click()
    formgrader.get_by_role("link", name=NOTEBOOK, exact=True).click()
    expect(formgrader.locator("#main-table .reveal")).to_have_count(submissions(graded))
    formgrader.get_by_role("button", name="Show All Names").click()
    formgrader.get_by_role("link", name=WAITING, exact=True).click()

    score = formgrader.locator(f"#{TASK}")
    expect(score).to_be_visible(timeout=60_000)
    task = formgrader.locator(".nbgrader_cell").filter(has=score)
    source = source_of(graded / "source" / SHORT / f"{NOTEBOOK}.ipynb", TASK)
    scheme = re.search("### BEGIN MARK SCHEME\n(.*)### END MARK SCHEME", source, re.DOTALL)[1]
    for piece in pieces(scheme):
        expect(task).to_contain_text(piece)
    answer = source_of(graded / "submitted" / WAITING / SHORT / f"{NOTEBOOK}.ipynb", ANSWER)
    for piece in pieces(answer):
        expect(formgrader.get_by_role("main")).to_contain_text(piece)

    expect(score).to_have_class(re.compile("needs_manual_grade"))
    for _ in range(formgrader.locator(".tabbable").count()):
        if not score.evaluate("box => box === document.activeElement"):
            lab.keyboard.press("Tab")
    expect(score).to_be_focused()
    comment = "Part 1 is right. Part 2: “the words” < all inputs, isn't it?"
    lab.keyboard.type("3.5")
    with lab.expect_response(lambda answer: "/api/grade/" in answer.url):
        lab.keyboard.press("Tab")
    lab.keyboard.type(comment)
    submission = re.search("/submissions/([^/]+)/", formgrader.url)[1]
    with lab.expect_response(lambda answer: "/api/comment/" in answer.url):
        lab.keyboard.press("Control+.")
    deadline = time.monotonic() + 30
    while submission in formgrader.url and time.monotonic() < deadline:  # wait_for_url fails while a frame is replaced
        lab.wait_for_timeout(100)
    assert submission not in formgrader.url

    with load(graded)[0].gradebook() as gradebook:
        grade = gradebook.find_grade(TASK, NOTEBOOK, SHORT, WAITING)
        assert (grade.manual_score, grade.max_score, grade.needs_manual_grade) == (3.5, 5, False)
        assert gradebook.find_comment(TASK, NOTEBOOK, SHORT, WAITING).manual_comment == comment
        raw, penalty = 20 + 3.5, gradebook.find_submission(SHORT, WAITING).late_submission_penalty
        assert penalty == pytest.approx(0.2 * raw), "two started days, of the whole score"
    run(graded, "nbgrader", "export", "--to=stock.csv")
    with (graded / "stock.csv").open(newline="", encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if (row["assignment"], row["student_id"]) == (SHORT, WAITING)]
    columns = ("raw_score", "late_submission_penalty", "score")
    assert [float(row[column]) for column in columns] == pytest.approx([raw, penalty, raw - penalty])


VISIBLE = """element => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.top >= 50 && box.bottom <= innerHeight && box.right <= innerWidth;
}"""
"""Whether all of an element is on the screen, below the page's fixed head."""


def test_without_a_network_or_a_hand_on_the_mouse_answer_scheme_and_comment_are_seen_beside_the_score(
    graded, address, lab
):
    course, _ = load(graded)
    _, figures = report.write(course, [SHORT], server_of(address))
    (by_hand,) = [reason for reason in figures["assignments"][0]["waiting"] if reason["why"] == "manual grading"]
    (link,) = [row["link"] for row in by_hand["rows"] if row["student"] == TO_REGRADE]
    lab.goto(link)
    score, comment = lab.locator(f"#{TASK}"), lab.locator(f"#{TASK}-comment")
    expect(score).to_be_focused()
    task = lab.locator(".nbgrader_cell").filter(has=score)
    answer = source_of(graded / "submitted" / TO_REGRADE / SHORT / f"{NOTEBOOK}.ipynb", ANSWER)
    for piece in pieces(answer):
        expect(task.locator(".task-answer")).to_contain_text(piece)
    lab.wait_for_timeout(1000)  # the page rolls to the score
    scheme = task.get_by_role("heading", name="Marking scheme")
    for seen in (score, task.locator(".task-answer"), scheme, comment):
        assert seen.evaluate(VISIBLE), seen
    question = task.locator("details.rendered_html")
    expect(question).not_to_have_attribute("open", "")
    question.locator("summary").first.click()
    expect(question.locator("math").first).to_be_visible()
    assert "$" not in lab.locator(".text_cell").filter(has_text="Attention as matrix products").inner_text()


@pytest.mark.slow
def test_who_grades_without_names_reads_none_in_the_notebook_and_begins_at_the_first_score(graded, address, lab):
    with load(graded)[0].gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, SHORT, WAITING).id
    lab.goto(f"{lab.server}/formgrader/submissions/{submission}/")
    expect(lab.locator(f"#{TASK}")).to_be_focused()
    expect(lab.get_by_text('NAME = ""')).to_have_count(1)
    assert "King" not in lab.content()
    assert WAITING not in lab.locator("body").inner_text()


@pytest.mark.slow
def test_a_test_in_doubt_is_begun_with_and_below_it_stands_why_a_human_should_look(graded, address, lab):
    with load(graded)[0].gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, SHORT, DOUBTFUL).id
    lab.goto(f"{lab.server}/formgrader/submissions/{submission}/")
    expect(lab.locator("#test_self_attention")).to_be_focused()
    said = (
        "'self_attention' begins with %%writefile, so it did not run as Python in the notebook; a grader should "
        "check it"
    )
    expect(lab.get_by_text(said).first).to_be_visible()
    panel = lab.locator(".nbgrader_cell").filter(has=lab.locator("#test_self_attention"))
    lab.wait_for_timeout(1000)  # the page rolls to the score
    for seen in (panel.get_by_text(said), panel.get_by_text("%%writefile"), lab.locator("#test_self_attention")):
        assert seen.first.evaluate(VISIBLE), seen
    expect(panel.locator("details")).not_to_have_attribute("open", "")


@pytest.mark.slow
def test_the_reports_link_to_a_repair_in_doubt_opens_in_the_box_of_the_test_that_it_concerns(graded, address, lab):
    course, _ = load(graded)
    _, figures = report.write(course, [SHORT], server_of(address))
    (doubts,) = [reason for reason in figures["assignments"][0]["waiting"] if reason["why"] == "uncertain repair"]
    (row,) = [row for row in doubts["rows"] if row["student"] == DOUBTFUL]
    lab.goto(row["link"])
    expect(lab.locator("#test_self_attention")).to_be_focused()


def test_the_autograde_button_regrades_what_was_handed_in_again_and_keeps_the_manual_score(graded, formgrader):
    def scores():
        with load(graded)[0].gradebook() as gradebook:
            grades = [gradebook.find_grade(name, NOTEBOOK, SHORT, TO_REGRADE) for name in ("test_self_attention", TASK)]
            comment = gradebook.find_comment(TASK, NOTEBOOK, SHORT, TO_REGRADE)
            return grades[0].auto_score, grades[1].manual_score, comment.manual_comment

    with load(graded)[0].gradebook() as gradebook:
        gradebook.find_grade(TASK, NOTEBOOK, SHORT, TO_REGRADE).manual_score = 4.5
        gradebook.find_comment(TASK, NOTEBOOK, SHORT, TO_REGRADE).manual_comment = "Good."
        gradebook.db.commit()
    assert scores() == (0, 4.5, "Good.")
    shutil.rmtree(graded / "submitted" / TO_REGRADE / SHORT)
    hand_in(graded, TO_REGRADE, answer="right/einsum")

    formgrader.locator("#main-table tr").filter(has_text=SHORT).locator(".num-submissions a").click()
    row = formgrader.locator("#main-table tr").filter(has=formgrader.get_by_text(TO_REGRADE, exact=True))
    row.locator(".autograde a").click()
    expect(formgrader.locator(".modal-body")).to_contain_text("Successfully autograded", timeout=120_000)
    assert scores() == (8, 4.5, "Good.")


@pytest.mark.slow
def test_on_a_dark_phone_the_page_is_dark_a_score_has_one_line_and_a_product_keeps_its_asterisks(graded, address, lab):
    typed = "It costs 3*H*(D/H)*D, and *not* $a*b$."
    path = graded / "autograded" / "demo-01" / SHORT / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (task,) = [number for number, cell in enumerate(notebook.cells) if cell.id == TASK]
    notebook.cells[task + 1].source = typed
    path.chmod(0o644)
    nbformat.write(notebook, path)
    with load(graded)[0].gradebook() as gradebook:
        place = gradebook.find_submission_notebook(NOTEBOOK, SHORT, "demo-01").id
    lab.emulate_media(color_scheme="dark")
    lab.set_viewport_size({"width": 390, "height": 900})
    lab.goto(urljoin(address, f"/formgrader/submissions/{place}/"))
    answer = lab.locator(".task-answer")
    expect(answer).to_contain_text("It costs 3*H*(D/H)*D, and not")
    answer.get_by_text("As typed").click()
    expect(answer.locator(".viva-typed pre")).to_have_text(typed)
    parts = lab.locator(f".panel-heading:has(#{TASK}) .pull-right > span").all()
    boxes = [part.bounding_box() for part in parts]
    assert len(boxes) == 3 and max(box["y"] for box in boxes) < min(box["y"] + box["height"] for box in boxes)
    assert max(box["x"] + box["width"] for box in boxes) <= 390
    assert lab.evaluate(CONTRAST) == []
    assert lab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    lab.goto(urljoin(address, f"/formgrader/gradebook/{SHORT}/{NOTEBOOK}"))
    expect(lab.locator("#main-table .reveal").first).to_be_visible()
    assert lab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
