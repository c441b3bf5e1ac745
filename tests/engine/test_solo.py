"""What the instructor's own solution does where one process does everything."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.oral import read
from viva.engine.blueprint import read_blueprint
from viva.engine.rehearsal import Ended, Solo, run_alone


def played(text: str, grader, folder: Path, data: Path | None = None) -> Solo:
    """What running a notebook shows, of which a cell may take two seconds."""
    notebook, _ = read(text)
    notebook.metadata["viva"] = {"seconds": 2}
    nbformat.write(notebook, folder / "nb.ipynb")
    return run_alone([cell for cell in read_blueprint(folder / "nb.ipynb").cells if cell.code], grader, data)


def test_of_the_names_that_given_cells_bind_those_are_told_that_an_answer_changes(grader, tmp_path):
    text = "--- given\nx, y = [2, 1], [0]\n--- answer\nx.sort()\nz = [1]\n--- answer\nz.append(2)\n"
    text += "--- test\ny.append(1)\n"
    assert played(text, grader, tmp_path).changed == {"answer-1": {"x"}, "answer-2": set()}


def test_of_each_grade_cell_it_is_told_what_it_raises(grader, tmp_path):
    solo = played("--- answer\nx = 1\n--- test\nassert x == 1\n--- test\nassert x == 2, 'two'\n", grader, tmp_path)
    assert solo.raised.keys() == {"test-1", "test-2"} and solo.raised["test-1"] is None
    assert (solo.raised["test-2"]["name"], solo.raised["test-2"]["message"]) == ("AssertionError", "two")
    assert solo.cut == {}


WRITING = """
--- answer
import os
open("start.txt", "w").write("4")
open("new.txt", "w").write(open("read.txt").read())
os.remove("gone.txt")
--- test
open("new.txt", "w").write("55")
"""


def test_only_files_that_were_there_before_a_cell_are_told_of_it(grader, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("start.txt", "gone.txt", "read.txt"):
        (data / name).write_text("3")
    assert played(WRITING, grader, tmp_path, data).files == {
        "answer-0": frozenset({"start.txt"}),
        "test-1": frozenset({"new.txt"}),
    }
    assert (data / "start.txt").read_text() == "3"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("while True: pass", 'does not finish in 2 s; allow more in its metadata, as in {"viva": {"seconds": 8}}'),
        ("x = bytearray(1 << 45)", "exceeds the memory limit; allow more with c.Examine.memory"),
    ],
)
@pytest.mark.slow
def test_a_cell_that_the_limits_cut_off_comes_with_its_reason(line, why, grader, tmp_path):
    solo = played(f"--- answer\n{line}\n--- test\npass\n", grader, tmp_path)
    assert solo.cut.keys() == {"answer-0"} and solo.raised == {"test-1": None}
    assert solo.cut["answer-0"].startswith(f"the instructor's own cell 'answer-0' {why}")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("os._exit(3)", "its cell 'answer-0' ends its process, with status 3"),
        ("os.abort()", r"its cell 'answer-0' crashes its process \(SIGABRT\)"),
        ("os.kill(os.getpid(), 24)", "the cells up to 'answer-0' exceed the time limit of a whole notebook"),
    ],
)
def test_of_a_process_that_ends_it_is_told_how(line, why, grader, tmp_path):
    with pytest.raises(Ended, match=why):
        played(f"--- answer\nimport os\n{line}\n--- test\npass\n", grader, tmp_path)
