"""What lies beside a graded notebook is shown as a picture or downloaded, and little of it lies beside the page."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from jupyter_client.manager import start_new_kernel
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import handlers as theirs
from traitlets.config import Config

from tests.commands.test_students_files import MARK, OTHERS, lay
from tests.conftest import BIN, PROJECT
from tests.doubling import NOTEBOOK, RIGHT, SMALL, hand_in_small, released_small
from tests.flow.jupyter import served
from viva import configuration
from viva.pages import submittedfiles
from viva.pages.feedback import write_refusals
from viva.record import Note
from viva.submission.files.beside import DELIVERY
from viva.submission.submission import Submission

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A graded course in which a student submitted a file of every dangerous name."""
    root = tmp_path_factory.mktemp("names") / "course"
    released_small(root)
    folder = hand_in_small(root, "mallory", RIGHT, "Because.").parent
    lay(folder, root.parent / MARK)
    (folder / f"{NOTEBOOK}.html").mkdir()
    (folder / f"{NOTEBOOK}.html" / "x.png").write_bytes(PIXEL)
    (folder / "plots").mkdir()
    (folder / "plots" / "Plot.PNG").write_bytes(PIXEL)
    (folder / "submission_secret.txt").write_text("secret")
    run(root, "viva grade")
    return root


def run(root: Path, words: str) -> str:
    command, *options = words.split()
    done = subprocess.run([BIN / command, *options], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", f"nbgrader autograde {SMALL} --force"])
def test_a_kernel_that_starts_beside_a_graded_notebook_runs_no_module_of_its_students(graded, tmp_path, command):
    root = shutil.copytree(graded, tmp_path / "course")
    if command:
        run(root, command)
    folder, mark = root / "autograded" / "mallory" / SMALL, graded.parent / MARK
    assert (folder / "rubric.py").is_file(), "a helper of the student's own stays"
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder), startup_timeout=100)
    try:
        client.execute_interactive("import json, numpy", timeout=100, allow_stdin=False)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert not mark.exists(), mark.read_text()


def beside(root: Path) -> set[str]:
    folder = root / "feedback" / "mallory" / SMALL
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["viva feedback", f"nbgrader generate_feedback {SMALL}"])
def test_beside_a_page_lie_pictures_and_what_its_delivery_needs_alone(graded, tmp_path, command):
    root = shutil.copytree(graded, tmp_path / "course")
    run(root, command)
    assert beside(root) == {f"{NOTEBOOK}.html", *DELIVERY, "plots/Plot.PNG"}
    assert {*OTHERS} - {"evil.pyc"} <= {
        str(path.relative_to(root / "autograded" / "mallory" / SMALL))
        for path in (root / "autograded" / "mallory" / SMALL).rglob("*")
    } | {name for name in OTHERS if name.startswith(".git")}, "graders read them"


@pytest.mark.slow
def test_files_that_an_earlier_version_copied_go_with_the_next_feedback(graded, tmp_path):
    root = shutil.copytree(graded, tmp_path / "course")
    run(root, "viva feedback")
    folder = root / "feedback" / "mallory" / SMALL
    assert "unchanged" in run(root, "viva feedback")
    folder.chmod(0o755)
    shutil.copy(root / "autograded" / "mallory" / SMALL / "evil.svg", folder)
    (folder / "my remarks.txt").write_text("of a grader's own")
    run(root, "viva feedback")
    assert beside(root) == {f"{NOTEBOOK}.html", *DELIVERY, "plots/Plot.PNG"}


def test_a_folder_in_the_place_of_a_refusals_page_makes_way_for_it(tmp_path):
    (tmp_path / "pages" / f"{NOTEBOOK}.html" / "deep").mkdir(parents=True)
    submission = Submission(SMALL, "mallory", tmp_path / "submitted")
    assert write_refusals(submission, [NOTEBOOK], [Note("no_notebook")], tmp_path / "pages")
    assert "no notebook was submitted" in (tmp_path / "pages" / f"{NOTEBOOK}.html").read_text().lower()


def fetch(server: str, token: str, path: str):
    """Headers, content and address of an answer, and its status."""
    request = urllib.request.Request(server + path, headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.headers, answer.read(), answer.url, answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.headers, error.read(), path, error.code


@pytest.mark.slow
def test_formgraders_server_shows_pictures_and_sandboxes_all_else(graded, tmp_path):
    root = shutil.copytree(graded, tmp_path / "course")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        number = gradebook.find_submission_notebook(NOTEBOOK, SMALL, "mallory").id
    with served(root) as printed:
        url, token = urlsplit(printed), re.search(r"token=(\w+)", printed)[1]
        server = f"{url.scheme}://{url.netloc}"
        files = f"/formgrader/submissions/{number}/"
        assert b"Because." in fetch(server, token, files)[1]
        headers, data, *_ = fetch(server, token, f"{files}plots/Plot.PNG")
        assert data == PIXEL and headers["Content-Type"] == "image/png" and not headers["Content-Disposition"]
        for name in (*OTHERS, "rubric.py", "timestamp.txt"):
            if name.startswith((".git", ".vscode")) or name == "evil.pyc":
                continue
            headers, *_ = fetch(server, token, files + quote(name))
            assert headers["Content-Type"] == "application/octet-stream", name
            assert headers["Content-Security-Policy"].startswith("sandbox;"), name
            assert headers["X-Content-Type-Options"] == "nosniff", name
            assert headers["Content-Disposition"].startswith("attachment;"), name
        for path in ("../../../gradebook.db", "../../../nbgrader_config.py", str(root / "gradebook.db")):
            assert fetch(server, token, files + quote(path, safe=""))[3] in (403, 404), path
        for path in (f"submitted/mallory/{SMALL}", f"autograded/mallory/{SMALL}", "/tmp"):
            assert fetch(server, token, f"/formgrader?path={quote(path, safe='')}")[3] == 400, path
        opened = fetch(server, token, f"/formgrader?path={quote(str(root), safe='')}")[2]
        assert urlsplit(opened).path == "/formgrader/manage_assignments"
        shutil.copytree(root / "source", tmp_path / "disk" / "source")
        (root / "other").symlink_to(tmp_path / "disk")
        assert fetch(server, token, f"/formgrader?path={quote(str(root / 'other'), safe='')}")[3] == 200, (
            "a link of one's own"
        )
        assert not (root.parent / MARK).exists() and not (graded.parent / MARK).exists()


def test_a_course_puts_our_handlers_in_the_place_of_nbgraders_once_and_of_no_other(monkeypatch):
    before = [(r"/formgrader/?", theirs.FormgraderHandler), (r"/x/(.*)", theirs.SubmissionFilesHandler)]
    now = [*before, (r"/formgrader/gradebook/?", theirs.GradebookAssignmentsHandler)]
    monkeypatch.setattr(theirs, "default_handlers", now)
    for _ in range(2):
        configuration.apply(Config(), str(PROJECT / "nbgrader_config.py"))
    kinds = {address: kind for address, kind, *_ in now}
    for address, kind in before:
        assert issubclass(kinds[address], submittedfiles.OURS[kind]), kind
    assert not issubclass(kinds[r"/formgrader/gradebook/?"], tuple(submittedfiles.OURS.values()))
    assert len(kinds) == len(now)
