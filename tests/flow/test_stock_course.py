"""A stock course's first hour: `nbgrader quickstart`, then every command that an adopter types, as it is printed.

``stock_course.txt`` is what the commands print. A person has read it. After a change that is meant:
VIVA_WRITE_TRANSCRIPT=1 pytest -m slow tests/flow/test_stock_course.py, and read what has changed.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from tests.conftest import BIN

TRANSCRIPT = Path(__file__).with_name("stock_course.txt")
COMMANDS = """
viva init
viva init --write
viva audit ps1
viva new hw2
viva audit hw2
viva adopt --in-place source/ps1/problem1.ipynb
viva release ps1
viva grade
viva grade
viva regrade ps1 --what-if
viva feedback
viva report
viva export
""".split("\n")[1:-1]
NAMES = "adams baker clark davis evans foster green harris irwin jones king lewis".split()
RIGHT = {
    "squares": (
        "def squares(n):\n    if n < 1:\n        raise ValueError('n must be at least 1')\n"
        "    return [i ** 2 for i in range(1, n + 1)]"
    ),
    "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
    "sum_of_squares_application": "def pyramidal_number(n):\n    return sum_of_squares(n)",
}
UNCHECKED = {"squares": "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)]"}
ONE_SHORT = {"squares": "def squares(n):\n    return [i ** 2 for i in range(n)]"}
NO_PYTHON = {"squares": "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)"}
ANSWERS = [RIGHT, RIGHT | UNCHECKED, RIGHT | ONE_SHORT, {"squares": RIGHT["squares"]}, {}, RIGHT | NO_PYTHON]


def hand_in_all(course: Path) -> None:
    """Twelve submissions, of six kinds."""
    for number, student in enumerate(NAMES):
        shutil.copytree(course / "release" / "ps1", folder := course / "submitted" / student / "ps1")
        for path in folder.glob("*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            for cell in notebook.cells:
                grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
                cell.source = ANSWERS[number % len(ANSWERS)].get(grade_id, cell.source)
            nbformat.write(notebook, path)


def plain(text: str, course: Path) -> str:
    """What was printed, without paths, times and line ends that differ from run to run."""
    text = text.replace(str(course), "COURSE")
    text = re.sub(r"\b\d+ s, details", "N s, details", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_command_prints_in_a_stock_course_what_a_person_has_read(tmp_path):
    course = tmp_path / "course101"
    environment = os.environ | {"COLUMNS": "120", "PYTHONWARNINGS": "default"}

    def run(command: str, folder: Path) -> str:
        done = subprocess.run(
            command.split(), cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return f"$ {command}\n{plain(done.stdout, course)}[exit status {done.returncode}]\n\n"

    run(f"{BIN}/nbgrader quickstart course101", tmp_path)
    problem = course / "source" / "ps1" / "problem1.ipynb"
    problem.write_text(problem.read_text().replace('"points": 1,', '"points": "1",'))
    transcript = ""
    for command in COMMANDS:
        transcript += run(command, course)
        if command.startswith("viva release"):
            hand_in_all(course)
    if os.environ.get("VIVA_WRITE_TRANSCRIPT"):
        TRANSCRIPT.write_text(transcript, encoding="utf-8")
    expected = TRANSCRIPT.read_text(encoding="utf-8")
    difference = "\n".join(difflib.unified_diff(expected.splitlines(), transcript.splitlines(), lineterm=""))
    assert not difference, difference
    assert "Traceback" not in transcript and "site-packages" not in transcript
