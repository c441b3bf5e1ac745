"""Written answers graded one after the other with the keyboard alone, with comments that repeat."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import barriers
from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.jupyter import logged_in, served, server_of
from tests.flow.test_formgrader import NOTEBOOK, TASK

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow, pytest.mark.timeout(900)]

STUDENTS = ("ada", "bea", "cleo", "dora")
RUBRIC = """[[item]]
key = "sum"
points = -1.5
text = "The sum is missing."

[[item]]
key = "order"
points = -1
text = "The order does not matter here."
cell = "why_equivariant"
"""
SUM, ORDER = "* -1.5: The sum is missing. [sum]", "* -1: The order does not matter here. [order]"


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Path:
    """A course with four students, graded but for what a person grades, and a rubric."""
    root = tmp_path_factory.mktemp("waiting") / "course"
    shutil.copytree(released, root)
    for student in STUDENTS:
        hand_in(root, student, answer="right/einsum")
    (root / "rubrics").mkdir()
    (root / "rubrics" / f"{SHORT}.toml").write_text(RUBRIC)
    viva(root, "grade", SHORT)
    return root


def viva(root: Path, *step: str) -> str:
    return subprocess.run([BIN / "viva", *step], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def address(graded):
    with served(graded) as printed:
        yield printed


@pytest.fixture
def page(browser, address) -> Iterator[Page]:
    """A page that counts its keys."""
    with logged_in(browser, address) as page:
        page.keys = 0
        yield page


def press(page: Page, *keys: str) -> None:
    """Single keys, counted."""
    for key in keys:
        page.keys += 1
        page.keyboard.press(key)


def ready(page: Page, left: str) -> None:
    """The next answer that waits is seen. Nobody waits for its scores: keys typed before they are there count."""
    expect(page.locator(".viva-left")).to_have_text(left, timeout=60_000)


def grades(root: Path) -> list[tuple[float, str]]:
    """The scores and comments of the written question, in order."""
    found = []
    with load(root)[0].gradebook() as gradebook:
        for student in STUDENTS:
            grade = gradebook.find_grade(TASK, NOTEBOOK, SHORT, student)
            comment = gradebook.find_comment(TASK, NOTEBOOK, SHORT, student).manual_comment
            found.append((grade.manual_score, comment or ""))
    return sorted(found, key=str)


def test_a_class_is_graded_with_the_keyboard_alone_and_a_changed_item_updates_all_scores(graded, page):
    with load(graded)[0].gradebook() as gradebook:
        first = min(gradebook.find_submission_notebook(NOTEBOOK, SHORT, student).id for student in STUDENTS)
    page.goto(f"{page.server}/formgrader/submissions/{first}/")
    ready(page, "4 of 4 left")
    press(page, "4", "Tab")  # a score, and a comment that nobody has given yet
    expect(page.locator(f"#{TASK}-comment")).to_be_focused()
    page.keyboard.type("Say why.")
    press(page, "Control+Enter")

    ready(page, "3 of 4 left")
    expect(page.locator(".viva-insert")).to_have_text(
        ["Alt+1-1.5: The sum is missing. [sum]", "Alt+2-1: The order does not matter here. [order]", "Alt+3Say why."]
    )
    press(page, "Alt+1", "Alt+2", "Control+Enter")  # both items: 5 - 1.5 - 1

    ready(page, "2 of 4 left")
    press(page, "Alt+1", "Alt+3", "Alt+2", "Alt+2")  # the last one is taken out again
    expect(page.locator(f"#{TASK}")).to_have_value("3.5")
    press(page, "Control+Enter")

    ready(page, "1 of 4 left")
    with page.expect_response(lambda answer: "/api/comment/" in answer.url):  # the score is saved before the comment
        press(page, "Alt+1")
    press(page, "Tab", "Shift+Tab")  # the score is selected
    expect(page.locator(f"#{TASK}")).to_be_focused()
    page.keyboard.type("1")  # a score of the grader's own
    press(page, "Control+Enter")
    page.wait_for_url(re.compile(f"/gradebook/{SHORT}/{NOTEBOOK}"))
    assert page.keys < 5 * len(STUDENTS)
    assert grades(graded) == [
        (1.0, SUM), (2.5, f"{SUM}\n{ORDER}"), (3.5, f"{SUM}\nSay why."), (4.0, "Say why."),
    ]  # fmt: skip

    path = graded / "rubrics" / f"{SHORT}.toml"
    path.write_text(RUBRIC.replace("-1.5", "-0.5").replace("The sum is", "The sum of the weights is"))
    said = viva(graded, "rubric", SHORT)
    assert "To update them, add --yes." in said and grades(graded)[1] == (2.5, f"{SUM}\n{ORDER}")
    assert "A grader typed a score that is not the sum of its items. The score is kept. Check it." in said
    viva(graded, "rubric", SHORT, "--yes")
    new = "* -0.5: The sum of the weights is missing. [sum]"
    assert grades(graded) == [
        (1.0, new), (3.5, f"{new}\n{ORDER}"), (4.0, "Say why."), (4.5, f"{new}\nSay why."),
    ]  # fmt: skip
    assert "All comments match the items in the file. There is nothing to update." in viva(graded, "rubric", SHORT)
    edited_in_place(graded, page, path)


HOSTILE = 'No </script><img src=x onerror=alert(1)> "sum".'


def edited_in_place(root: Path, page: Page, path: Path) -> None:
    """With keys alone: an item changes all scores that it gave, another one is added, and both are taken back."""
    before, old = path.read_text(), grades(root)
    with load(root)[0].gradebook() as gradebook:
        scores = {one: gradebook.find_grade(TASK, NOTEBOOK, SHORT, one).manual_score for one in STUDENTS}
        (student,) = (one for one, score in scores.items() if score == 3.5)
        key = gradebook.find_submission_notebook(NOTEBOOK, SHORT, student).id
    page.goto(f"{page.server}/formgrader/submissions/{key}/")
    page.wait_for_load_state("networkidle")
    score, comment = page.locator(f"#{TASK}"), page.locator(f"#{TASK}-comment")
    editor, edited = page.locator(".viva-editor"), page.locator(f".nbgrader_cell:has(#{TASK}) .viva-edited")
    said = editor.get_by_role("status")
    score.focus()
    press(page, "Alt+Shift+Digit1")
    expect(editor.get_by_label("Points")).to_be_focused()
    page.keyboard.type("two")  # -0.5 was selected
    press(page, "Enter")
    expect(said).to_have_text("“two” is not a number.")
    page.keyboard.press("Control+a")
    page.keyboard.type("-2")
    press(page, "Tab", "Control+a")
    page.keyboard.type(HOSTILE)
    path.write_text(f"{before}# by another grader\n")
    press(page, "Enter")
    expect(said).to_contain_text(f"{SHORT}.toml was changed after you opened this page. Load the page again.")
    path.write_text(before)
    press(page, "Enter")
    expect(said).to_have_text("3 answers have this item: 2 scores change by -1.5, 1 score typed by a grader stays.")
    expect(editor.get_by_role("button", name="Save and change 3 answers")).to_be_focused()
    assert grades(root) == old and path.read_text() == before
    for name, (width, height) in SEEN.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.locator(".task-answer").first.bounding_box()["width"] > 250, "a column of an answer can be read"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for part in (".viva-editor", ".viva-items"):
                assert barriers(page, part) == [], (name, scheme)
    press(page, "Enter")
    line = f"* -2: {HOSTILE} [sum]"
    expect(edited).to_contain_text("Saved. 3 answers changed.")
    expect(score).to_be_focused()
    expect(comment).to_have_value(f"{line}\n{ORDER}")
    expect(score).to_have_value("2")
    expect(page.locator(".viva-insert").first).to_have_text(f"Alt+1{line[2:]}")
    assert grades(root) == [(1.0, line), (2.0, f"{line}\n{ORDER}"), (3.0, f"{line}\nSay why."), (4.0, "Say why.")]
    assert page.locator("img[src=x]").count() == 0
    press(page, "Alt+Shift+Backspace")
    expect(edited).to_contain_text("Undone in 3 answers.")
    expect(comment).to_have_value(old[1][1])
    expect(score).to_have_value("3.5")
    assert grades(root) == old and path.read_text() == before

    moved_and_deleted(root, page, path)
    press(page, "Alt+Shift+Digit0")
    expect(editor.get_by_label("Text")).to_be_focused()
    page.keyboard.type(HOSTILE)
    press(page, "Enter")
    expect(page.locator(".viva-insert").nth(2)).to_have_text(f"Alt+3-1: {HOSTILE} [no-script-img]")
    page.reload()  # now the page is made with it
    page.wait_for_load_state("networkidle")
    expect(page.locator(".viva-insert").nth(2)).to_have_text(f"Alt+3-1: {HOSTILE} [no-script-img]")
    assert page.locator("img[src=x]").count() == 0
    path.write_text(before)


def moved_and_deleted(root: Path, page: Page, path: Path) -> None:
    """With keys alone: an item goes down and is deleted, also from the answers that have it; each is taken back."""
    before, old, items = path.read_text(), grades(root), page.locator(".viva-insert")
    editor, edited = page.locator(".viva-editor"), page.locator(f".nbgrader_cell:has(#{TASK}) .viva-edited")
    said = editor.get_by_role("status")
    press(page, "Alt+Shift+Digit1", "Alt+ArrowDown")
    expect(said).to_have_text("Moved. It is number 2 now.")
    expect(items.nth(1)).to_contain_text("[sum]")
    expect(editor.get_by_label("Points")).to_be_focused()
    press(page, "Alt+ArrowDown")  # below it is no other item
    press(page, "Escape", "Alt+Shift+Backspace")
    expect(edited).to_have_text("Undone.")
    expect(items.first).to_contain_text("[sum]")
    assert path.read_text() == before

    press(page, "Alt+Shift+Digit1", "Alt+Delete")
    expect(said).to_have_text("3 answers have this item: 2 scores change by +0.5, 1 score typed by a grader stays.")
    expect(editor.get_by_role("button", name="Delete and change 3 answers")).to_be_focused()
    assert grades(root) == old and path.read_text() == before
    press(page, "Enter")
    expect(edited).to_contain_text("Deleted. 3 answers changed.")
    expect(page.locator(f"#{TASK}-comment")).to_have_value(ORDER)
    expect(items.first).to_contain_text("[order]")
    assert grades(root) == [(1.0, ""), (4.0, ORDER), (4.0, "Say why."), (5.0, "Say why.")]
    press(page, "Alt+Shift+Backspace")
    expect(edited).to_contain_text("Undone in 3 answers.")
    assert grades(root) == old and path.read_text() == before


def test_what_is_typed_while_an_item_is_saved_stays(graded, page):
    with load(graded)[0].gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NOTEBOOK, SHORT, "ada").id
        grade = gradebook.find_grade(TASK, NOTEBOOK, SHORT, "ada")
        grade.manual_score, grade.needs_manual_grade = None, True
        gradebook.find_comment(TASK, NOTEBOOK, SHORT, "ada").manual_comment = None
        gradebook.db.commit()
    held = []

    def hold(route) -> None:
        route.continue_() if route.request.method == "GET" else held.append(route)

    def answered() -> None:
        """The server answers the request that waits, and the page has seen it."""
        with page.expect_event("requestfinished"):
            held.pop().continue_()
        page.wait_for_timeout(50)

    page.goto(f"{page.server}/formgrader/submissions/{notebook}/")
    page.wait_for_load_state("networkidle")
    page.route("**/formgrader/api/**", hold)
    score, comment = page.locator(f"#{TASK}"), page.locator(f"#{TASK}-comment")
    score.focus()
    press(page, "Alt+1", "Control+a")
    page.keyboard.type("2.2")
    answered()
    expect(score).to_have_value("2.2")
    page.keyboard.type("5")
    answered()  # the comment
    press(page, "Tab", "End")
    page.keyboard.type(" And more")
    answered()  # the score
    expect(comment).to_have_value(re.compile("And more$"))
    page.keyboard.type(".")
    press(page, "Control+Enter")
    page.wait_for_timeout(50)
    answered()
    page.wait_for_url(re.compile("/formgrader/(submissions|gradebook)/"))
    with load(graded)[0].gradebook() as gradebook:
        grade = gradebook.find_grade(TASK, NOTEBOOK, SHORT, "ada")
        text = gradebook.find_comment(TASK, NOTEBOOK, SHORT, "ada").manual_comment
    assert grade.manual_score == 2.25 and text.endswith("[sum] And more.")


CLASS = 12
SEEN = {"desk": (1400, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def crowd(released, tmp_path_factory) -> Path:
    """A class of twelve with a written answer each, and a fact to read about one of them."""
    root = tmp_path_factory.mktemp("crowd") / "course"
    shutil.copytree(released, root)
    hidden = "import numpy as np\nnp.allclose = lambda *a, **b: True\n"
    for number in range(CLASS):
        more = {"self_attention": f"{hidden}raise NotImplementedError()"} if number == 5 else {}
        hand_in(root, f"student{number:02}", answer="right/einsum", **more)
    (root / "rubrics").mkdir()
    (root / "rubrics" / f"{SHORT}.toml").write_text(RUBRIC)
    viva(root, "grade", SHORT)
    return root


@pytest.fixture(scope="module")
def crowd_address(crowd):
    with served(crowd) as printed:
        yield printed


@pytest.fixture
def desk(browser, crowd_address) -> Iterator[Page]:
    with logged_in(browser, crowd_address) as page:
        page.keys = 0
        yield page


def test_twelve_answers_take_less_than_three_keys_each_and_the_live_list_is_empty_then(crowd, desk):
    """Counted: from the first answer to the last. A comment that nobody has given yet is typed, and counts as well."""
    lists = f"{desk.server}/formgrader/viva/"
    desk.goto(lists)
    row = desk.get_by_role("row").filter(has_text="A written answer or a score must be graded manually.")
    expect(row).to_contain_text(str(CLASS))
    assert "student05" not in desk.content()
    desk.get_by_role("link", name="Show names").click()
    expect(desk.get_by_role("heading", name="Integrity").locator("xpath=following::ul[1]")).to_contain_text("student05")
    for _ in range(20):
        press(desk, "Tab")
        if desk.evaluate("document.activeElement.textContent.startsWith('manual grading')"):
            break
    press(desk, "Enter")
    comment, desk.keys = "Why?", 0
    for left in range(CLASS, 0, -1):
        ready(desk, f"{left} of {CLASS} left")
        if left == CLASS:
            press(desk, "4", "Tab", *comment)
        elif left % 4 == 0:
            press(desk, "Alt+1")  # an item of the rubric: comment and score
        elif left % 4 == 1:
            press(desk, "4", "Alt+3")  # a score, and the comment of before
        else:
            press(desk, "5")
        press(desk, "Control+Enter")
    desk.wait_for_url(re.compile(f"/gradebook/{SHORT}/{NOTEBOOK}"))
    print(f"{desk.keys} keys for {CLASS} answers")
    assert desk.keys < 3 * CLASS

    desk.goto(lists)
    expect(desk.get_by_role("heading", name="Needs a grader")).to_be_visible()
    assert "A written answer or a score must be graded manually." not in desk.locator("main").inner_text()
    with load(crowd)[0].gradebook() as gradebook:
        found = [
            gradebook.find_grade(TASK, NOTEBOOK, SHORT, f"student{number:02}").manual_score for number in range(CLASS)
        ]
    expected = [{0: 3.5, 1: 4.0}.get(left % 4, 5.0) for left in range(1, CLASS)] + [4.0]
    assert sorted(found) == sorted(expected)


def test_who_may_not_open_formgrader_does_not_see_its_list(browser, crowd_address):
    context = browser.new_context()
    page = context.new_page()
    server = server_of(crowd_address)
    page.goto(f"{server}/formgrader/viva/")
    assert "/login" in page.url and "student05" not in page.content()
    edit = {"seen": "", "points": -1, "text": "Taken.", "cell": TASK, "save": True}
    assert page.request.post(f"{server}/formgrader/viva/rubric/any", data=edit, max_redirects=0).status in (302, 403)
    context.close()


def test_who_skips_an_answer_resolves_nothing(graded, page):
    with load(graded)[0].gradebook() as gradebook:
        for student in STUDENTS:
            grade, waits = gradebook.find_grade(TASK, NOTEBOOK, SHORT, student), student in STUDENTS[:2]
            grade.manual_score, grade.needs_manual_grade = None if waits else 3.0, waits
        gradebook.db.commit()
        ids = sorted(gradebook.find_submission_notebook(NOTEBOOK, SHORT, student).id for student in STUDENTS[:2])
    page.goto(f"{page.server}/formgrader/submissions/{ids[0]}/")
    ready(page, "2 of 4 left")
    press(page, "Control+Enter")
    page.wait_for_url(re.compile(ids[1]))
    ready(page, "2 of 4 left")
