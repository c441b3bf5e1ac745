from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.conftest import PROJECT
from tests.oral import code_cell
from viva.engine.blueprint import read_blueprint
from viva.verdict import BlueprintError


def test_points_are_told_apart_by_who_gives_them():
    blueprint = read_blueprint(PROJECT / "source" / "ps3_scaled_attention" / "scaled_attention.ipynb")
    assert blueprint.automatic_points == sum(check.points for _, check in blueprint.checks())
    assert blueprint.points == blueprint.automatic_points + blueprint.manual_points
    assert blueprint.manual_points > 0


def test_solutions_are_the_instructors_text_without_the_markers():
    blueprint = read_blueprint(PROJECT / "source" / "ps3_scaled_attention" / "scaled_attention.ipynb")
    for source in blueprint.solutions().values():
        assert "SOLUTION" not in source
        compile(source, "answer", "exec")


def written(folder, cells):
    """The blueprint of a notebook with these cells."""
    nbformat.write(new_notebook(cells=cells), folder / "nb.ipynb")
    return read_blueprint(folder / "nb.ipynb")


@pytest.mark.parametrize("mark", ["### {} HIDDEN TESTS", "###{} HIDDEN TESTS", "# {} HIDDEN TESTS ###"])
def test_hidden_lines_are_found_however_nbgrader_lets_their_marks_be_written(tmp_path, mark):
    hidden = f"{mark.format('BEGIN')}\nsecret = 3\nassert f() == secret\n{mark.format('END')}"
    begin, end = mark.format("BEGIN"), mark.format("END")
    texts = {
        "a": f"shown = 1\n{hidden}",
        "b": hidden,
        "hidden-half": f"other = 2\nif (shown := f()):\n    1\n{begin}\nelse:\n    2\n{end}",
        "visible-half": f"@f\n{begin}\ndef g(): pass\n{end}\nother = 2",
        "no-python": f"other = 2\n{begin}\n(\n{end}",
    }
    cells = [code_cell(name, text, grade=True, points=1) for name, text in texts.items()]
    partly, wholly, *halves = written(tmp_path, cells).cells
    assert [cell.visible_names() for cell in halves] == [{"other"}, {"other"}, set()]
    assert partly.visible_names() == {"shown"}
    assert [partly.checks[0].hidden, wholly.checks[0].hidden] == [False, True]


@pytest.mark.parametrize("mark", ["### {} SOLUTION", "###{} SOLUTION", "# {} SOLUTION"])
def test_the_marks_of_a_solution_are_no_part_of_it_however_they_are_written(tmp_path, mark):
    source = f"def f():\n    {mark.format('BEGIN')}\n    return 1\n    {mark.format('END')}"
    answer = code_cell("a", source, solution=True, locked=False)
    assert written(tmp_path, [answer]).solutions() == {"a": "def f():\n    return 1"}


@pytest.mark.parametrize("value", ["60", True, 0, -1, float("inf"), float("nan"), 10**30, [60]])
@pytest.mark.parametrize("name", ["seconds", "budget", "a cell's seconds"])
def test_a_limit_of_time_that_is_none_is_refused_in_a_sentence(tmp_path, name, value):
    notebook = new_notebook(cells=[code_cell("given", "x = 1")])
    (notebook if name in ("seconds", "budget") else notebook.cells[0]).metadata["viva"] = {name.split()[-1]: value}
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    with pytest.raises(BlueprintError, match=r"which is not a number\. Write, for example"):
        read_blueprint(tmp_path / "notebook.ipynb")
