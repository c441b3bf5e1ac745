from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.conftest import PROJECT
from tests.oral import code_cell
from viva.engine.blueprint import Blueprint, Cell, default_of, language_of, read_blueprint, seed_in, with_seed
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
    cells = [
        code_cell(name, text, grade=True, points=1) for name, text in (("a", f"shown = 1\n{hidden}"), ("b", hidden))
    ]
    partly, wholly = written(tmp_path, cells).cells
    assert partly.visible_names() == {"shown"}
    assert [partly.checks[0].hidden, wholly.checks[0].hidden] == [False, True]


@pytest.mark.parametrize("mark", ["### {} SOLUTION", "###{} SOLUTION", "# {} SOLUTION"])
def test_the_marks_of_a_solution_are_no_part_of_it_however_they_are_written(tmp_path, mark):
    source = f"def f():\n    {mark.format('BEGIN')}\n    return 1\n    {mark.format('END')}"
    answer = code_cell("a", source, solution=True, locked=False)
    assert written(tmp_path, [answer]).solutions() == {"a": "def f():\n    return 1"}


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"),
        ({"kernelspec": None}, "python"),
        ({"kernelspec": {"language": "Python", "name": "python3"}}, "python"),
        ({"kernelspec": {"name": "python3"}, "language_info": {"name": "ipython"}}, "python"),
        ({"kernelspec": {"language": "R", "name": "ir"}}, "R"),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": "R"}}, "R"),
    ],
)
def test_the_language_is_what_the_kernel_or_the_last_run_says_and_else_python(metadata, language):
    assert language_of(metadata) == language


@pytest.mark.parametrize("value", ["60", True, 0, -1, float("inf"), float("nan"), 10**30, [60]])
@pytest.mark.parametrize("name", ["seconds", "budget", "a cell's seconds"])
def test_a_limit_of_time_that_is_none_is_refused_in_a_sentence(tmp_path, name, value):
    notebook = new_notebook(cells=[code_cell("given", "x = 1")])
    (notebook if name in ("seconds", "budget") else notebook.cells[0]).metadata["viva"] = {name.split()[-1]: value}
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    with pytest.raises(BlueprintError, match="Write a number"):
        read_blueprint(tmp_path / "notebook.ipynb")


def notebook(*cells: tuple[str, str], **more: object) -> Blueprint:
    made = (Cell(f"c{place}", purpose, source, **more) for place, (purpose, source) in enumerate(cells))
    return Blueprint("book", tuple(made))


@pytest.mark.parametrize(
    ("line", "seed"),
    [
        ("viva_seed = 20261", 20261),
        ("viva_seed=0", 0),
        ("import numpy\nviva_seed =  123_456  # of everybody\nx = viva_seed", 123456),
        ("viva_seed = 7\r\nx = 1", 7),
        ("viva_seed = 7 + 1", None),
        ("viva_seed = -7", None),
        ("    viva_seed = 7", None),
        ("not_viva_seed = 7", None),
        ("viva_seed = 1.5", None),
        ("viva_seed = " + "9" * 5000, None),
    ],
)
def test_a_line_with_a_whole_number_gives_the_seed(line, seed):
    assert seed_in(line) == seed
    changed = with_seed(line, 31)
    assert seed_in(changed) == (None if seed is None else 31)
    assert changed == line if seed is None else len(changed.splitlines()) == len(line.splitlines())


def test_another_seed_changes_the_number_alone():
    text = "import numpy as np\nviva_seed  =  11 # of 11\nrng = np.random.default_rng(viva_seed)  # viva_seed = 3\n"
    assert with_seed(text, 987654321) == text.replace("=  11", "=  987654321")


def test_the_default_is_that_of_the_given_cell():
    assert (
        default_of(notebook(("given", "x = 1"), ("given", "viva_seed = 4\ny = viva_seed"), ("tests", "assert y"))) == 4
    )
    assert default_of(notebook(("given", "x = 1"), ("tests", "assert viva_seed"))) is None


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        ([("given", "viva_seed = 4"), ("given", "viva_seed = 5")], {}, "a value here and in 'c1'"),
        ([("given", "viva_seed = 4"), ("tests", "viva_seed += 5")], {}, "a value here and in 'c1'"),
        ([("answer", "viva_seed = 4")], {}, "in a cell that is not a locked read-only cell"),
        ([("given", "viva_seed = 4")], {"locked": False}, "in a cell that is not a locked read-only cell"),
        ([("tests", "viva_seed = 4")], {}, "in a cell that is not a locked read-only cell"),
        ([("given", "viva_seed = 4\nviva_seed = 5")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = 2 * 2")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = True")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = other = 4")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed: int = 4")], {}, "is not a whole number on its own line"),
        ([("given", "for viva_seed in [1]:\n    pass")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''"), ("given", "viva_seed = 5")], {}, "a value here and in 'c1'"),
        ([("given", "if 1:\n    viva_seed = 4")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''\nviva_seed = int('4')")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''\nviva_seed = 5")], {}, "is not a whole number"),
    ],
)
def test_where_no_seed_can_be_put_in_a_sentence_says_so(cells, more, said):
    with pytest.raises(BlueprintError, match=f"book, cell 'c0'.*viva_seed.*{said}"):
        default_of(notebook(*cells, **more))
