"""A course on a real JupyterHub: two graders and three students in browsers, and a student who looks around."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from tests.conftest import PROJECT, SHORT, lacking
from tests.flow import hub as hubs
from tests.flow.hub import COURSE, GRADERS, PASSWORD, STUDENTS, Hub
from tests.flow.jupyter import stand_in_for_mathjax
from tests.flow.test_student_hour import code, write
from viva.engine.blueprint import read_blueprint
from viva_audit.answers import fill_in, read_answer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.xdist_group("hub"),
]  # the longest of all: beside the other browsers

NOTEBOOK = "scaled_attention"
TIMEOUT = 90_000
"""So many milliseconds may a server take to start, and a page to answer, on a busy machine."""
SECRET = secrets.token_hex(16)
"""Stands in the course's hidden tests."""
ANSWERS = {"student2": "wrong/softmax_along_rows", "student3": "right/loops"}
WORDS = {student: secrets.token_hex(16) for student in STUDENTS}
"""What stands in each student's written answer, and in nobody else's."""
OPEN = "/srv/left-open.txt"
"""Holds what it must not, and is there to be found."""
SCORES = {"student1": 20, "student2": 5, "student3": 20}


@pytest.fixture
def hub():
    yield from started(watched=False)


@pytest.fixture
def watched():
    """A hub of which ``viva watch`` is a service."""
    yield from started(watched=True)


def started(watched: bool) -> Iterator[Hub]:
    if missing := hubs.lacking():
        lacking(missing)
    folder = Path(tempfile.mkdtemp(prefix="viva-hub-"))
    try:
        with hubs.running(folder, SECRET, watched) as running:
            yield running
    finally:
        shutil.rmtree(folder)


def log_in(browser: Browser, hub: Hub, user: str, height: int = 1000) -> Page:
    """A browser of a user's own, whose network is this hub."""
    context = browser.new_context(viewport={"width": 1400, "height": height})
    context.route(lambda url: url.startswith("http") and not url.startswith(hub.address), stand_in_for_mathjax)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    page.goto(f"{hub.address}/hub/login")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/user/{user}/lab**")
    return page


def assignments(page: Page) -> Page:
    """nbgrader's list of assignments, opened from the menu of a student's JupyterLab."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Assignment List").click()
    return page


def save(page: Page, path: str, content: str) -> None:
    """Put a file into the home of who looks at that page, as JupyterLab does."""
    user = re.search("/user/([^/]+)/", page.url)[1]
    page.evaluate(
        """async ([address, content]) => {
             const token = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)[1];
             const model = {type: 'file', format: 'text', content};
             const headers = {'Content-Type': 'application/json', 'X-XSRFToken': token};
             const answer = await fetch(address, {method: 'PUT', headers, body: JSON.stringify(model)});
             if (!answer.ok) throw new Error(await answer.text());
           }""",
        [f"/user/{user}/api/contents/{path}", content],
    )


def type_into_terminal(page: Page, command: str, home: Path) -> None:
    """Type a command into a new terminal of JupyterLab, once it takes what is typed; ``home`` is that of its user."""
    page.get_by_role("menuitem", name="File", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^New$")).hover()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Terminal$")).click()
    expect(page.locator(".jp-Terminal .xterm-screen")).to_be_visible(timeout=TIMEOUT)
    deadline = time.monotonic() + TIMEOUT / 1000
    while not (home / "typed.txt").exists() and time.monotonic() < deadline:
        page.locator(".jp-Terminal").last.click()
        page.keyboard.type("touch ~/typed.txt\n")
        page.wait_for_timeout(1000)
    page.keyboard.type(f"{command}\n")


def appears(path: Path) -> str:
    """What a file says, once it is there."""
    for _ in range(3000):
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.1)
    pytest.fail(f"{path} was not written in five minutes")


def hand_in(browser: Browser, hub: Hub, student: str) -> Page:
    """Fetch, work and submit, all of it in the browser; afterwards the student's page."""
    page = assignments(log_in(browser, hub, student, height=1000 if student in ANSWERS else 16_000))
    page.get_by_role("button", name="Fetch", exact=True).click()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_visible(timeout=TIMEOUT)
    path = f"attention/{SHORT}/{NOTEBOOK}.ipynb"
    here = hub.inside(f"/home/{student}/{path}")
    if student in ANSWERS:
        notebook = nbformat.read(here, as_version=4)
        answer = read_answer(PROJECT / "answers" / SHORT / f"{ANSWERS[student]}.py")
        notebook = fill_in(answer, notebook, read_blueprint(PROJECT / "source" / SHORT / f"{NOTEBOOK}.ipynb"))
        (written,) = [cell for cell in notebook.cells if cell.id == "why_equivariant_answer"]
        written.source += f"\n\n{WORDS[student]}"
        save(page, path, nbformat.writes(notebook))
    else:
        page.goto(f"{hub.address}/user/{student}/lab/tree/{path}")
        expect(page.locator(".jp-CodeCell").first).to_be_visible(timeout=TIMEOUT)
        for name, source in code("right/einsum").items():
            write(page, name, f"{source}\n# {WORDS[student]}")
        page.keyboard.press("Control+s")
        deadline = time.monotonic() + 30
        while WORDS[student] not in here.read_text() and time.monotonic() < deadline:
            page.wait_for_timeout(100)
        page.goto(f"{hub.address}/user/{student}/lab/workspaces/list")  # where the notebook is not open
        assignments(page)
    assert WORDS[student] in here.read_text()
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#submitted_assignments_list")).to_contain_text(SHORT, timeout=TIMEOUT)
    return page


def open_course(browser: Browser, hub: Hub, grader: str) -> Page:
    """Formgrader in a grader's browser, from the hub's own menu."""
    page = log_in(browser, hub, grader)
    page.goto(f"{hub.address}/hub/home")
    page.get_by_role("button", name="Services").click()
    page.get_by_role("link", name="attention").click()
    expect(page.get_by_role("heading", name="Manage Assignments")).to_be_visible(timeout=TIMEOUT)
    return page


def press(page: Page, row: str, button: str) -> None:
    """Press a button in a row of formgrader's table, and read that it succeeded."""
    page.locator("#main-table tr").filter(has_text=row).locator(f".{button} a").click()
    expect(page.locator(".modal-body")).to_contain_text("Successfully", timeout=TIMEOUT)
    page.locator(".modal-footer button").first.click()
    expect(page.locator(".modal-body")).to_have_count(0, timeout=TIMEOUT)


@pytest.mark.timeout(1200)
def test_a_course_goes_out_comes_back_and_is_graded_on_a_hub_and_nobody_sees_what_is_not_theirs(browser, hub):
    pages = {student: hand_in(browser, hub, student) for student in STUDENTS}
    look_around(hub, pages["student1"])
    forge(hub)
    graders = [open_course(browser, hub, grader) for grader in GRADERS]
    grade(hub, *graders)
    hand_back(hub, pages["student2"])
    only_what_is_for_all_was_found(enough(hub, pages["student1"]))


@pytest.mark.timeout(1200)
def test_a_student_reads_the_page_in_the_session_in_which_they_submitted(browser, watched, capsys):
    """The watcher is a service of the hub, as docs/watch.md says; nobody presses a button but the students."""
    took = {}
    for student in STUDENTS[1:]:
        page = hand_in(browser, watched, student)
        start = time.monotonic()
        here = watched.inside(f"/home/{student}/attention/{SHORT}/feedback")
        while not page.get_by_text("view feedback").count() and time.monotonic() < start + TIMEOUT / 1000:
            page.get_by_role("button", name="Fetch Feedback").click()
            page.wait_for_timeout(500)
        took[student] = time.monotonic() - start
        (feedback,) = here.glob(f"*/{NOTEBOOK}.html")
        page.goto(f"{watched.address}/user/{student}/files/{feedback.relative_to(watched.inside(f'/home/{student}'))}")
        expect(page.get_by_text(f"{SCORES[student]} of 25 points").first).to_be_visible(timeout=TIMEOUT)
        assert WORDS[student] in feedback.read_text() and SECRET not in feedback.read_text()
    assert scores(watched.inside(COURSE)) == {student: SCORES[student] for student in took}
    with capsys.disabled():
        print(f"\nFrom submit to page on the hub: {statistics.median(took.values()):.1f} s, the median of {len(took)}.")


def forge(hub: Hub) -> None:
    """Put into the exchange nonsense in another student's name, later than all, and a link to the solution."""
    notebook = f"{NOTEBOOK}.ipynb"
    link = f"ln -s {COURSE}/source/{SHORT}/{notebook} ."
    for user, name, put in (("student1", "student3", f"touch {notebook}"), ("grader2", "grader2", link)):
        folder = f"/srv/nbgrader/exchange/attention/inbound/{name}+{SHORT}+2199-01-01 10:00:00.000000 UTC+x"
        hub.machine.run("bash", "-euc", f'mkdir "{folder}" && cd "{folder}" && {put}', user=user)


def grade(hub: Hub, first: Page, second: Page) -> None:
    """One grader collects and types `viva grade`, the other presses formgrader's button for one submission."""
    course = hub.inside(COURSE)
    press(first, SHORT, "collect")
    first.goto(f"{hub.address}/services/attention/lab")
    type_into_terminal(first, "viva grade >~/grading.txt 2>&1; echo $? >~/status.txt", course.parent)
    assert appears(course.parent / "status.txt") == "0\n", (course.parent / "grading.txt").read_text()
    assert scores(course) == SCORES

    second.goto(f"{hub.address}/services/attention/formgrader/manage_submissions/{SHORT}")
    press(second, "student2", "autograde")
    assert scores(course) == SCORES
    first.goto(f"{hub.address}/services/attention/formgrader")
    press(first, SHORT, "generate-feedback")
    press(first, SHORT, "release-feedback")


def hand_back(hub: Hub, page: Page) -> None:
    """A student fetches the page about their work, and reads it; formgrader does not open for them."""
    page.get_by_role("button", name="Fetch Feedback").click()
    expect(page.get_by_text("view feedback")).to_be_visible(timeout=TIMEOUT)
    (feedback,) = hub.inside(f"/home/student2/attention/{SHORT}/feedback").glob(f"*/{NOTEBOOK}.html")
    written = hub.inside(COURSE) / "feedback" / "student2" / SHORT / f"{NOTEBOOK}.html"
    assert feedback.read_bytes() == written.read_bytes()
    page.goto(f"{hub.address}/user/student2/files/{feedback.relative_to(hub.inside('/home/student2'))}")
    expect(page.get_by_text(f"{SCORES['student2']} of 25 points").first).to_be_visible(timeout=TIMEOUT)
    assert page.goto(f"{hub.address}/services/attention/").status == 403


def scores(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "attention") as book:
        return {one.student.id: one.score for one in book.assignment_submissions(SHORT)}


def look_around(hub: Hub, page: Page) -> None:
    """Let a student look for hidden tests and others' answers, again and again, from a terminal of their server."""
    words = [SECRET, WORDS["student2"], WORDS["student3"]]
    hub.inside(OPEN).write_text(SECRET)
    searched = ["/home", "/srv", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc"]
    asked = {"words": [word.encode().hex() for word in words], "searched": searched}
    save(page, "trespass.json", json.dumps(asked))
    save(page, "trespass.py", (PROJECT / "tests" / "flow" / "trespass.py").read_text())
    home = hub.inside("/home/student1")
    type_into_terminal(page, "python trespass.py >trespass.txt 2>&1", home)
    appears(home / "trespassing.txt")


def enough(hub: Hub, page: Page) -> dict:
    """What the student found, who tries in the end what only somebody can guess who knows the course."""
    course, others = hub.inside(COURSE), hub.inside("/home/student2")
    known = [
        path for folder in (course, others, hub.inside("/srv/jupyterhub")) for path in [folder, *folder.rglob("*")]
    ]
    guesses = ["/" + str(path.relative_to(hub.machine.folder)) for path in known]
    guesses += [f"/srv/nbgrader/exchange/attention{place}" for place in ("", "/inbound", "/feedback", "/outbound")]
    service = f"http://127.0.0.1:{hub.service_port}/services/attention"
    addresses = [
        f"{hub.address}/services/attention/formgrader",
        f"{service}/formgrader/api/assignments",
        f"{service}/api/contents/gradebook.db",
        f"{hub.address}/user/student2/api/contents",
        f"{hub.address}/hub/api/users/student2",
        f"{hub.address}/hub/api/users",
        f"{hub.address}/hub/api/services/attention",
    ]
    last = {"guesses": guesses, "addresses": addresses, "listed": ["/home", "/srv"]}
    save(page, "enough.txt", json.dumps(last))
    return json.loads(appears(hub.inside("/home/student1/trespassed.json")))


def only_what_is_for_all_was_found(found: dict) -> None:
    """The release and the settings of students' servers can be read, and hand-ins put into the exchange; no more."""
    assert found["leaks"] == [OPEN], "what lies open is found, and nothing else that is secret lies open"
    assert found["shown"] == [], "no process of another user shows its environment, files or memory"
    students = [path for path in hubs.files() if path.startswith("/srv/nbgrader/students/")]
    released = f"/srv/nbgrader/exchange/attention/outbound/{SHORT}/{NOTEBOOK}.ipynb"
    assert found["readable"] == sorted([OPEN, released, *students])
    assert found["opened"] == ["/srv/nbgrader/exchange/attention", "/srv/nbgrader/exchange/attention/outbound"]
    assert found["changed"] == ["/srv/nbgrader/exchange/attention/inbound"]
    assert set(found["answers"].values()) <= {403, 404}, found["answers"]
