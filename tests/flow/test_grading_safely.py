"""What a grader types is not lost and overwrites nothing: a server that stops, a second grader, a wrong score, a new
submission.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import barriers
from tests.conftest import BIN, load
from tests.doubling import NOTEBOOK, RIGHT, SMALL, hand_in_small, released_small
from tests.flow.jupyter import logged_in, served, server_of

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow, pytest.mark.timeout(900)]

WHY, COMMENT = "#why", "#why-comment"
STUDENTS = ("ada", "bea", "cleo")


def viva(root: Path, *step: str) -> str:
    return subprocess.run([BIN / "viva", *step], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A course in which a written answer of each student waits for a grader."""
    root = tmp_path_factory.mktemp("safely") / "course"
    released_small(root)
    for student in STUDENTS:
        hand_in_small(root, student, RIGHT, f"{student} says that it is addition.")
    viva(root, "grade")
    return root


@pytest.fixture
def course(graded, tmp_path) -> Path:
    root = tmp_path / "course"
    shutil.copytree(graded, root)
    return root


class Desk:
    """A course whose server can be stopped, and the browsers of graders."""

    def __init__(self, root: Path, browser, pages: ExitStack) -> None:
        self.root, self.browser, self.pages, self.stack, self.port = root, browser, pages, ExitStack(), 0

    def start(self) -> None:
        self.address = self.stack.enter_context(served(self.root, self.port))
        self.server = server_of(self.address)
        self.port = urlsplit(self.address).port

    def stop(self) -> None:
        self.stack.close()

    def grader(self) -> Page:
        """The page of one more grader, who is logged in."""
        page = self.pages.enter_context(logged_in(self.browser, self.address))
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    def open(self, page: Page, student: str = "ada") -> None:
        page.goto(f"{self.server}/formgrader/submissions/{self.key(student)}/")
        page.wait_for_load_state("networkidle")

    def key(self, student: str) -> str:
        with load(self.root)[0].gradebook() as gradebook:
            return gradebook.find_submission_notebook(NOTEBOOK, SMALL, student).id

    def saved(self, student: str = "ada") -> tuple[float | None, str | None]:
        where = "why", NOTEBOOK, SMALL, student
        with load(self.root)[0].gradebook() as gradebook:
            return gradebook.find_grade(*where).manual_score, gradebook.find_comment(*where).manual_comment

    def waits(self, student: str) -> bool:
        with load(self.root)[0].gradebook() as gradebook:
            return gradebook.find_grade("why", NOTEBOOK, SMALL, student).needs_manual_grade


@pytest.fixture
def desk(browser, course) -> Iterator[Desk]:
    with ExitStack() as pages:
        desk = Desk(course, browser, pages)
        pages.callback(desk.stop)
        desk.start()
        yield desk


def told(page: Page):
    return page.locator(".viva-told")


def test_what_is_typed_while_the_server_is_stopped_stays_and_is_saved_when_it_is_back(desk):
    page = desk.grader()
    desk.open(page)
    here = page.url
    desk.stop()
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    expect(told(page).first).to_contain_text("Not saved. The server does not answer.")
    page.keyboard.type("Which law?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#viva-notice, .viva-told").first).to_be_visible()
    page.wait_for_timeout(500)
    assert page.url.partition("?")[0] == here.partition("?")[0]
    expect(page.locator(WHY)).to_have_value("2")
    expect(page.locator(COMMENT)).to_have_value("Which law?")
    assert desk.saved() == (None, None)
    editor, rubric = page.locator(".viva-editor"), desk.root / "rubrics" / f"{SMALL}.toml"
    page.keyboard.press("Alt+Shift+Digit0")
    page.keyboard.type("Name the law.")
    page.keyboard.press("Enter")
    expect(editor).to_contain_text("The comment on this page is not saved yet.")
    expect(editor.get_by_label("Text")).to_have_value("Name the law.")

    desk.start()
    expect(told(page)).to_have_count(0, timeout=60_000)
    assert desk.saved() == (2.0, "Which law?") and not rubric.exists()
    page.keyboard.press("Enter")
    expect(page.locator(".viva-insert").first).to_have_text("Alt+1-1: Name the law. [name-the-law]")
    assert 'text = "Name the law."\ncell = "why"\n' in rubric.read_text()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left")


def test_unsaved_text_survives_a_reload(desk):
    page = desk.grader()
    desk.open(page)
    desk.stop()
    page.keyboard.type("1,5")
    page.keyboard.press("Tab")
    page.keyboard.type("Half of")
    expect(told(page).first).to_contain_text("Not saved")
    desk.start()
    page.goto(desk.address)
    desk.open(page)
    expect(page.locator(COMMENT)).to_have_value("Half of")
    expect(told(page)).to_contain_text(["Not saved yet: you typed this earlier."])
    page.locator(COMMENT).press("End")
    page.keyboard.type(" it")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left")
    assert desk.saved() == (1.5, "Half of it")


def test_of_two_graders_at_one_answer_the_later_is_asked_and_nothing_is_overwritten(desk):
    one, other = desk.grader(), desk.grader()
    desk.open(one)
    desk.open(other)
    expect(other.locator("#viva-notice")).to_contain_text("Another grader has this answer open.")
    one.keyboard.type("3")
    one.keyboard.press("Tab")
    one.keyboard.type("Right.")
    one.keyboard.press("Control+Enter")
    expect(one.locator(".viva-left")).to_have_text("2 of 3 left")

    other.keyboard.type("1")
    other.keyboard.press("Tab")
    conflict = told(other).filter(has_text="another grader saved 3 here after you opened the page. You typed 1.")
    expect(conflict).to_be_visible()
    assert desk.saved() == (3.0, "Right.")
    other.keyboard.type("Wrong.")
    other.keyboard.press("Control+Enter")
    expect(told(other).filter(has_text="another grader saved “Right.” here")).to_be_visible()
    assert desk.saved() == (3.0, "Right.")

    conflict.get_by_role("button", name="Save mine").click()
    expect(conflict).to_have_count(0)
    told(other).filter(has_text="Right.").get_by_role("button", name="Keep theirs").click()
    expect(other.locator(COMMENT)).to_have_value("Right.")
    other.keyboard.press("Control+Enter")
    expect(other.locator(".viva-left")).to_have_text("2 of 3 left")
    assert desk.saved() == (1.0, "Right.")


def test_graders_who_work_at_once_get_different_answers(desk):
    pages = [desk.grader() for _ in STUDENTS]
    for page in pages:
        page.goto(f"{desk.server}/formgrader/viva/")
        page.get_by_role("link", name="manual grading").first.click()
        page.wait_for_load_state("networkidle")
    assert len({page.url.partition("?")[0] for page in pages}) == len(STUDENTS)
    pages[0].keyboard.press("Control+Enter")
    expect(pages[0].locator("#viva-notice")).to_contain_text("Other graders have the last 2 waiting answers open.")
    pages[1].goto(f"{desk.server}/formgrader/viva/")  # this page is left, and its answer free again
    free = pages[0].url
    pages[0].keyboard.press("Control+Enter")
    pages[0].wait_for_url(lambda url: url.partition("?")[0] != free.partition("?")[0] and "/submissions/" in url)


WRONG = {"7": "this question has 3 points", "1,2,3": "is not a number", "-1": "below 0"}


@pytest.mark.parametrize(("typed", "wrong"), WRONG.items(), ids=["too much", "no number", "below 0"])
def test_a_score_that_cannot_be_is_refused_beside_its_box_and_stays_there(desk, typed, wrong):
    page = desk.grader()
    desk.open(page)
    here = page.url
    page.keyboard.type(typed)
    page.keyboard.press("Tab")
    expect(told(page)).to_contain_text(wrong)
    page.keyboard.press("Control+Enter")
    expect(page.locator(WHY)).to_be_focused()
    expect(page.locator(WHY)).to_have_value(typed)
    page.wait_for_timeout(300)
    assert page.url == here and desk.saved() == (None, None)
    page.keyboard.press("Control+a")
    page.keyboard.type("2,5")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left")
    assert desk.saved() == (2.5, None)


def test_an_answer_that_was_submitted_again_waits_only_if_it_changed_and_shows_what_is_new(desk):
    for student in STUDENTS:
        grade(desk.root, student, 2)
    submit_again(desk.root, "ada", f"{RIGHT}\n# the same answer", "ada says that it is addition.")
    submit_again(desk.root, "bea", RIGHT, "bea knows that it is addition.")
    viva(desk.root, "grade")
    assert [desk.waits(student) for student in STUDENTS] == [False, True, False]
    page = desk.grader()
    desk.open(page, "bea")
    changed = page.locator(".viva-changed")
    expect(changed).to_contain_text("This answer has changed since it was graded")
    expect(changed.locator("ins")).to_have_text(["knows"])
    expect(changed.locator("del")).to_have_text(["says"])

    submit_again(desk.root, "bea", RIGHT, "bea knows.", hour=14)
    viva(desk.root, "grade")
    page.keyboard.type("1")  # in the place of the score that stands there
    expect(page.locator(WHY)).to_have_value("1")
    page.keyboard.press("Control+Enter")
    expect(told(page)).to_contain_text("this notebook was graded again after you opened it")
    told(page).get_by_role("button").click()
    expect(changed.locator("del")).to_have_text(["says that it is addition"])
    page.wait_for_load_state("networkidle")
    expect(told(page)).to_contain_text("before the notebook was graded again. Read the answer.")
    assert desk.saved("bea")[0] == 2.0 and desk.waits("bea"), "nobody has read the new answer"
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/gradebook/**")
    assert desk.saved("bea")[0] == 1.0 and not desk.waits("bea")

    for _ in range(2):
        viva(desk.root, "grade", "--force")
        assert [desk.waits(student) for student in STUDENTS] == [False, False, False]
    viva(desk.root, "regrade", SMALL, "--no-audit")
    assert [desk.waits(student) for student in STUDENTS] == [False, False, False]

    submit_again(desk.root, "ada", RIGHT, "ada says that it is addition.", hour=15)
    submit_again(desk.root, "cleo", RIGHT, "cleo knows that it is addition.", hour=15)
    subprocess.run([BIN / "nbgrader", "autograde", "--force", SMALL], cwd=desk.root, check=True, capture_output=True)
    assert [desk.waits(student) for student in STUDENTS] == [False, False, True]


def grade(root: Path, student: str, score: float) -> None:
    with load(root)[0].gradebook() as gradebook:
        found = gradebook.find_grade("why", NOTEBOOK, SMALL, student)
        found.manual_score, found.needs_manual_grade = score, False
        gradebook.db.commit()


def submit_again(root: Path, student: str, twice: str, why: str, hour: int = 13) -> None:
    shutil.rmtree(root / "submitted" / student / SMALL)
    path = hand_in_small(root, student, twice, why)
    path.with_name("timestamp.txt").write_text(f"2026-09-14 {hour}:00:00 UTC")


def test_the_server_itself_takes_no_score_above_the_points(desk):
    page = desk.grader()
    desk.open(page)
    with load(desk.root)[0].gradebook() as gradebook:
        key = gradebook.find_grade("why", NOTEBOOK, SMALL, "ada").id
    for score in (7, -1, "2,5", "nan", []):
        status = page.evaluate(
            """([url, score]) => fetch(url, {method: "PUT", body: JSON.stringify({manual_score: score}),
                headers: {"X-CSRFToken": getCookie("_xsrf")}}).then(answer => answer.status)""",
            [f"{desk.server}/formgrader/api/grade/{key}", score],
        )
        assert status == 400, score
    group, odd = f"viva/group/{desk.key('ada')}", [b"\xff", b"[" * 100_000, b"3", b'{"manual_score": NaN}', b""]
    change = {
        "id": desk.key("ada"),
        "cell": "why",
        "comment": None,
        "comment_before": "x\ud800",
        "score": None,
        "score_before": 1,
    }
    changes = change, change | {"comment_before": None, "score_before": 1e6}, change | {"score_before": -5}
    taken = [json.dumps({"changes": [change]}).encode() for change in changes]
    item = f"viva/rubric/{desk.key('ada')}"
    undone = [json.dumps({"seen": "", "file": "", "changes": [change]}).encode() for change in changes]
    assert page.request.post(f"{desk.server}/formgrader/{item}", data={"seen": "", "points": -1}).status == 403, "XSRF"
    for place, bodies in ((f"api/grade/{key}", odd), (group, [*odd, *taken]), (item, [*odd, *undone])):
        for body in bodies:
            answer = page.request.put(
                f"{desk.server}/formgrader/{place}",
                data=body,
                headers={"X-CSRFToken": page.evaluate("getCookie('_xsrf')"), "Content-Type": "application/json"},
            )
            assert answer.status in (400, 404, 409), (place, body[:40], answer.status)
    assert desk.saved() == (None, None)


def test_keys_typed_before_a_page_is_ready_count(desk):
    page = desk.grader()
    desk.open(page)
    first, held = page.url, []
    page.route("**/formgrader/submissions/**", lambda route: held.append(route), times=1)
    page.keyboard.type("3")
    page.keyboard.press("Control+Enter")
    wait_for(page, lambda: held)
    page.keyboard.type("2")  # the server still makes the next page
    page.keyboard.press("Tab")
    page.keyboard.type("Well?")
    page.keyboard.press("Backspace")
    waiting = []
    page.route("**/formgrader/api/grades?**", lambda route: waiting.append(route), times=1)
    held.pop().continue_()
    page.wait_for_url(lambda url: url.partition("?")[0] != first.partition("?")[0])
    wait_for(page, lambda: waiting)
    expect(page.locator(COMMENT)).to_have_value("Well")
    page.keyboard.type(" done")  # the scores are still not there
    waiting.pop().continue_()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".viva-left")).to_have_text("1 of 3 left")
    assert sorted([desk.saved(one) for one in STUDENTS], key=str) == [(2.0, "Well done"), (3.0, None), (None, None)]


def test_control_and_enter_typed_before_a_page_is_ready_go_on_with_what_was_typed(desk):
    """Held back in turn: a script in the head, before which nothing is shown, and the scores of the next page."""
    page, held = desk.grader(), []
    page.route("**/underscore*.js*", lambda route: held.append(route), times=1)
    page.goto(f"{desk.server}/formgrader/submissions/{min(map(desk.key, STUDENTS))}/", wait_until="commit")
    wait_for(page, lambda: held)
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    page.keyboard.type("Why?")
    page.keyboard.press("Control+Enter")
    page.keyboard.type("1")  # for the next answer
    held.pop().continue_()
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left", timeout=60_000)
    expect(page.locator(WHY)).to_have_value("1")

    page.wait_for_load_state("networkidle")
    page.route("**/formgrader/api/grades?**", lambda route: held.append(route), times=1)
    page.keyboard.press("Control+Enter")
    wait_for(page, lambda: held)
    expect(page.locator(".viva-left")).to_have_text("1 of 3 left")
    page.keyboard.press("Alt+1")  # the comment of before
    page.keyboard.press("Control+Enter")
    held.pop().continue_()
    page.wait_for_url(f"**/formgrader/gradebook/{SMALL}/{NOTEBOOK}", timeout=60_000)
    assert sorted([desk.saved(one) for one in STUDENTS], key=str) == [(1.0, None), (2.0, "Why?"), (None, "Why?")]


def test_a_second_press_while_the_next_answer_is_fetched_does_not_skip_it(desk):
    page, held = desk.grader(), []
    desk.open(page)
    first = page.url
    page.route("**/formgrader/submissions/**", lambda route: held.append(route), times=1)
    page.keyboard.press("Control+Enter")
    wait_for(page, lambda: held)
    page.keyboard.press("Control+Enter")
    page.keyboard.type("2")
    (there,) = [one for one in STUDENTS if desk.key(one) in held[0].request.url]
    held.pop().continue_()
    page.wait_for_url(lambda url: url.partition("?")[0] != first.partition("?")[0], timeout=60_000)
    expect(page.locator(WHY)).to_have_value("2")
    page.keyboard.press("Control+Enter")
    wait_for(page, lambda: desk.saved(there) == (2.0, None))


def wait_for(page: Page, there) -> None:
    for _ in range(300):
        if there():
            return
        page.wait_for_timeout(100)
    pytest.fail("It did not come.")


def test_back_shows_what_is_saved(desk):
    page = desk.grader()
    desk.open(page)
    page.keyboard.type("3")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left")
    grade(desk.root, "ada", 1.5)
    page.go_back()
    expect(page.locator(WHY)).to_have_value("1.5")
    expect(page.locator(".viva-left")).to_have_text("2 of 3 left")


def test_a_question_is_graded_through_the_class_while_other_scores_wait(desk):
    grade(desk.root, "bea", 2)
    with load(desk.root)[0].gradebook() as gradebook:
        for student in STUDENTS:
            gradebook.find_grade("test_twice", NOTEBOOK, SMALL, student).needs_manual_grade = True
        gradebook.db.commit()
    page = desk.grader()
    desk.open(page)
    expect(page.locator("#test_twice")).to_be_focused()
    page.locator(WHY).focus()
    for student, left in (("ada", 2), ("cleo", 1)):
        expect(page.locator(WHY)).to_be_focused()
        panel = page.locator(".nbgrader_cell").filter(has=page.locator(WHY))
        expect(panel).to_contain_text(f"{left} of 3 left at this question")
        expect(panel).to_contain_text(f"{student} says that it is addition.")
        expect(panel).to_contain_text("persimmon")  # the marking scheme
        page.wait_for_load_state("networkidle")
        page.keyboard.type("1")
        page.keyboard.press("Control+Shift+Enter")
        if student == "ada":
            page.wait_for_url(lambda url: desk.key("ada") not in url)
    expect(page.locator("#viva-notice")).to_contain_text("No other answer to this question waits.")
    assert [desk.saved(student)[0] for student in STUDENTS] == [1.0, 2.0, 1.0]


def test_the_list_of_open_work_hides_names_and_stands_in_formgraders_menu(desk):
    page = desk.grader()
    page.goto(f"{desk.server}/formgrader/gradebook")
    page.get_by_role("link", name="Open Grading Work").click()
    expect(page.get_by_role("heading", name="Open grading work")).to_be_visible()
    shown = page.locator("main").inner_text()
    assert "manual grading" in shown and not any(student in shown for student in STUDENTS)
    link = page.locator("main a", has_text="Submission #").last
    number = link.text_content()
    page.goto(f"{desk.server}{link.get_attribute('href')}")
    expect(page.get_by_text(number).first).to_be_visible()  # formgrader's own number
    page.go_back()
    page.get_by_role("link", name="Show names").click()
    expect(page.get_by_text("manual grading").first).to_be_visible()
    assert all(student in page.content() for student in STUDENTS)


def test_the_report_counts_a_notebook_once_whatever_it_waits_for(course):
    (path,) = course.rglob("results.jsonl")
    path.write_text(path.read_text().replace('"verdict":"passed"', '"verdict":"ungraded"'))
    assert "3 notebooks need a grader" in " ".join(viva(course, "report").split())


def test_a_question_is_graded_alone_through_the_class_with_keys_only(desk):
    page = desk.grader()
    desk.open(page)
    cells = page.locator("#notebook-container .cell:visible")
    assert cells.count() > 5
    page.keyboard.press("Alt+Digit0")
    expect(page.get_by_role("button", name="Only this question")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".nbgrader_cell:visible")).to_have_count(1)
    assert "addition" in " ".join(cells.all_inner_texts()) and cells.count() <= 4
    page.keyboard.press("Alt+Shift+Digit0")
    expect(page.locator(".viva-editor")).to_have_accessible_name("New rubric item")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    page.keyboard.press("Escape")
    for left in (3, 2, 1):
        expect(page.locator(".viva-question-left:visible")).to_contain_text(f"{left} of 3 left at this question")
        expect(page.locator(".nbgrader_cell:visible")).to_have_count(1)
        expect(page.locator(WHY)).to_be_focused()
        page.keyboard.type(str(left))
        before = page.url.partition("?")[0]
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda url, before=before: url.partition("?")[0] != before)
    assert not any(map(desk.waits, STUDENTS))
    assert sorted(desk.saved(student)[0] for student in STUDENTS) == [1, 2, 3]
    desk.open(page)
    expect(page.locator(".nbgrader_cell:visible")).to_have_count(1)
    page.keyboard.press("Alt+Digit0")
    expect(page.get_by_role("button", name="Only this question")).to_have_attribute("aria-pressed", "false")
    assert cells.count() > 5


def test_the_list_of_open_work_leads_to_one_question_at_a_time(desk):
    page = desk.grader()
    page.goto(f"{desk.server}/formgrader/viva/")
    page.get_by_role("link", name="one question at a time").click()
    expect(page.get_by_role("button", name="Only this question")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".nbgrader_cell:visible")).to_have_count(1)
    expect(page.locator(WHY)).to_be_focused()
