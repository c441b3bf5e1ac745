"""A command that is run once more from its beginning, as it is after a lost connection, changes nothing more."""

from __future__ import annotations

import contextlib
import shlex
import shutil
from pathlib import Path

import pytest
from traitlets.utils.importstring import import_item

from plugins.term.tests.archives.given import folder
from tests.conftest import load
from tests.faults import ANSWERS, STUB, TINY, grade_here, hand_in_tiny, make_course
from viva import cli
from viva.course.grades import export

LIST = "id,last_name,first_name,email,lms_user_id\n"
ONCE = {
    "release": (f"{TINY} --no-audit",),
    "roster": ("list.csv", "--same student0000 twin"),
    "deadlines": ("",),
    "extend": (f"student0001 {TINY} --until='2030-01-01 10:00'", f"student0001 {TINY} --excuse"),
    "collect": (f"hw --assignment={TINY} --no-times",),
    "demo": (f"{TINY} --students=2",),
    "grade": ("", "--force"),
    "regrade": (f"{TINY} --no-audit", f"{TINY} --what-if"),
    "package": (f"gradescope {TINY}",),
    "feedback": ("", "--force"),
    "report": ("",),
    "rubric": (f"{TINY} --yes",),
    "export": ("", "--to=mine.csv", "--as=canvas --into=canvas.csv --column='Tiny (11)'"),
    "doctor": ("",),
}
"""By command, what it is run with; a command is run again from its beginning where it asks the gradebook."""
NEVER = {"init", "new", "adopt", "audit", "check", "completion", "watch", "lti", "canvas", "diagnose"}
"""Those that ask no gradebook (tests/flow/test_postgres.py runs them while its server is away), ``diagnose``, which
needs known answers (plugins/diagnosis/tests), ``watch``, which runs until it is stopped
(plugins/watch/tests/test_watcher.py), and ``lti``, whose scores go elsewhere (plugins/lti/tests)."""


def test_every_command_is_run_again_or_asks_no_gradebook():
    assert set(ONCE) | NEVER == set(cli.subcommands()) and not set(ONCE) & NEVER


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A released course with four submissions of which three are graded, and files that commands read."""
    root = make_course(tmp_path_factory.mktemp("again") / "course")
    hand_in_tiny(root, 3)
    grade_here(root)
    shutil.copytree(root / "submitted" / "student0000", root / "submitted" / "student0003")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(
            f"\nc.LatePolicy.zone = 'UTC'\nc.LatePolicy.assignments = {{'{TINY}': {{'due': '2026-10-05 23:59'}}}}\n"
        )
    (root / "answers" / TINY / "right").mkdir(parents=True)
    (root / "answers" / TINY / "right" / "sum.py").write_text(
        '"""Adds."""\n\n# %% double\ndef double(x):\n    return x + x\n'
    )
    students = [*(f"student{number:04}" for number in range(4)), "twin"]
    (root / "list.csv").write_text(LIST + "".join(f"{one},Lee,{one},,\n" for one in students))
    answer = (root / "release" / TINY / "tiny.ipynb").read_text().replace(STUB, ANSWERS[0])
    folder(root / "hw", {"student0001/tiny.ipynb": answer, "nobody/tiny.ipynb": answer})
    (root / "canvas.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Tiny (11)\n    Points Possible,,,,,3\n"
        + "".join(f'"Lee, {one}",{number},{one},{one},A,\n' for number, one in enumerate(students, 1))
    )
    return root


def files(root: Path) -> dict[str, bytes]:
    """What stands in the course, but for the times at which commands ran, and pictures."""
    left_out = {"gradebook.db", "gradebook.db.lock", "results.jsonl", "regrades.jsonl", "list.csv"}
    found = (path for path in root.rglob("*") if path.is_file() and path.name not in left_out)
    return {
        str(path.relative_to(root)): path.read_bytes() if path.suffix in (".csv", ".ipynb", ".json") else b""
        for path in found
    }


def scores(root: Path) -> list:
    course, _ = load(root)
    with contextlib.chdir(root), course.gradebook() as gradebook:
        return sorted(map(str, export.scores(course, gradebook, [TINY], "*")))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [(name, one) for name, some in ONCE.items() for one in some])
def test_a_command_that_is_run_once_more_ends_as_before_and_changes_nothing(
    made, tmp_path, monkeypatch, capsys, name, options
):
    root = shutil.copytree(made, tmp_path / "course")
    monkeypatch.chdir(root)
    if name == "roster" and "same" in options:
        shutil.copytree(root / "submitted" / "student0001", root / "submitted" / "twin")
        shutil.rmtree(root / "submitted" / "student0000")
        run("roster", "list.csv")
        run("grade", "")
    statuses, states, books, said = [], [], [], []
    capsys.readouterr()
    command = import_item(cli.subcommands()[name][0])()
    command.initialize(shlex.split(options))
    command.authenticator = command.exchange = None
    for _ in range(2):
        statuses.append(command._try())
        said.append(capsys.readouterr().out)
        states.append(files(root))
        books.append(scores(root))
    assert statuses[0] in (0, 1) and len(set(statuses)) == 1, "what it was asked to do it did, and says so twice"
    assert states[0].keys() == states[1].keys()
    assert [path for path in states[0] if states[0][path] != states[1][path]] == []
    assert books[0] == books[1]
    assert said[0] == said[1] or "same" not in options, "nobody saw the first"


def run(name: str, options: str) -> None:
    command = import_item(cli.subcommands()[name][0])()
    command.initialize(shlex.split(options))
    assert command._try() in (0, 1)
