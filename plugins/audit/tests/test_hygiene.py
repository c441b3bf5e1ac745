from __future__ import annotations

import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import PROJECT, load
from viva.course.releasing.compiler import compiled
from viva.engine.blueprint import read_blueprint
from viva_audit.hygiene import errors, readme_findings, untold, warnings

SOURCES = sorted((PROJECT / "source").glob("*/*.ipynb"))
FIVE = next(path for path in SOURCES if path.stem == "sentence")


@pytest.fixture
def look(tmp_path):
    """The findings about a notebook of a course; also when it was changed."""

    def findings_about(path, notebook=None):
        root = tmp_path / "course"
        (root / "source" / "ps").mkdir(parents=True)
        shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
        shutil.copy(PROJECT / "nbgrader_config.py", root)
        notebook = notebook or nbformat.read(path, as_version=4)
        copy = root / "source" / "ps" / path.name
        nbformat.write(notebook, copy)
        blueprint = read_blueprint(copy)
        return errors(blueprint) + warnings(notebook, compiled(load(root)[0], "ps", path.stem), blueprint)

    return findings_about


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] * (path != FIVE), id=path.stem) for path in SOURCES]
)
def test_our_notebooks_are_clean(path, look):
    assert look(path) == []


def test_a_notebook_of_format_4_4_with_cell_ids_is_named_as_jupyter_names_it_to_students(look):
    notebook = nbformat.read(FIVE, as_version=4)
    notebook.nbformat_minor = 4
    (finding,) = look(FIVE, notebook)
    assert finding.startswith("Jupyter will tell students that the notebook is not valid: Additional properties")
    assert "viva adopt --in-place" in finding


def change(name, *pairs):
    def edit(notebook):
        cell = next(cell for cell in notebook.cells if cell.id == name)
        for old, new in pairs:
            assert old in cell.source
            cell.source = cell.source.replace(old, new)

    return edit


STALE = "check '{}': the student's function gets 'test_scores' and can change it before the expected"


def after_the_call(title, lines):
    """A check whose expected result is computed from what the student's function had before."""
    lines = lines.replace("EXPECTED", "reference_softmax_right(test_scores)")
    return change("test_softmax_sizes", (f": {title}\n", f": {title}\nfor test_scores in []:\n{lines}\n"))


def set_output(notebook):
    cell = next(cell for cell in notebook.cells if cell.id == "setup")
    cell.outputs = [nbformat.v4.new_output("stream", text="old")]


def rename(notebook):
    cell = next(cell for cell in notebook.cells if cell.id == "test_me")
    cell.metadata.nbgrader.grade_id = "cell-0123456789abcdef"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (rename, "this id says nothing about the cell. Name the cell after its question"),
        (set_output, "Cell 'setup': the cell has outputs of an earlier run"),
        (change("setup", ("import numpy as np", "import requests\nimport numpy as np")), "'requests' needs"),
        (change("setup", ("import numpy as np", "import numpy as np\n!pip install x")), "'!pip install x' needs"),
        (change("data", ("np.random.seed(23)", "f = '/home/anna/data.csv'")), "the path '/home/anna/data.csv'"),
        (change("data", ("np.random.seed(23)", "")), "np.random.randn() draws random numbers, but no seed"),
        (change("test_softmax", ("default_rng(52)", "default_rng()")), "np.random.default_rng() has no seed"),
        (
            change("test_softmax", ("np.random.default_rng(52).normal(", "np.random.normal(")),
            "Cell 'test_softmax': the test sets no seed, so student code can choose the numbers of np.random.normal()",
        ),
        (change("test_me", ("1: the output of me to", "1: softmax(x) @ V to")), "shows students the code"),
        (change("test_softmax", ("For a random matrix", "0.2341 is right. For")), "shows students the value 0.2341"),
        (change("test_softmax", ('"For a random matrix', 'f"{expected} For a')), "the value of 'expected'"),
        (
            after_the_call("a single row", "    assert agrees(softmax(test_scores), EXPECTED)"),
            STALE.format("a single row"),
        ),
        (
            after_the_call("other sizes", "    got = softmax(test_scores)\n    expected = EXPECTED"),
            STALE.format("other sizes"),
        ),
        (
            after_the_call("other sizes", "    got = softmax(test_scores)\n    assert agrees(got, EXPECTED), 'No.'"),
            STALE.format("other sizes"),
        ),
        (
            change("data", ("d_ff = 5 ", "# gusta_embed_pos = gusta_ + pos_2\nd_ff = 5 ")),
            "shows students the answer to",
        ),
        (
            change("sentence", ("| position |", "`reference_softmax_right`\n\n| position |")),
            "the hidden function 'reference_softmax_right'",
        ),
        (
            change("sentence", ("| position |", "![](map.png)\n\n| position |")),
            "'map.png' has no text for blind readers",
        ),
        (
            change("sentence", ("| position |", "<img src='a.png'>\n\n| position |")),
            "a picture has no text for blind readers (alt text",
        ),
        (change("picture", ("### A picture of the weights", "")), None),
        (
            change("title", ("| total | 30 |", "| total | 31 |")),
            "the table has 31 points, but the notebook is worth 30",
        ),
    ],
)
def test_a_fault_is_named(look, edit, sentence):
    notebook = nbformat.read(FIVE, as_version=4)
    edit(notebook)
    found = look(FIVE, notebook)
    if sentence is None:
        assert found == []
    else:
        assert any(sentence in one for one in found), found


@pytest.mark.parametrize(
    "call", ["test_scores = softmax(test_scores)", "got = [softmax(test_scores) for test_scores in []]"]
)
def test_a_name_that_the_call_itself_binds_is_not_what_the_function_had(look, call):
    notebook = nbformat.read(FIVE, as_version=4)
    after_the_call("other sizes", f"    {call}\n    expected = EXPECTED")(notebook)
    assert not [
        fault
        for fault in look(FIVE, notebook)
        if "and can change it before the expected result is computed from it." in fault
    ]


def test_a_hidden_function_that_stands_in_two_test_cells_is_named(look):
    notebook = nbformat.read(FIVE, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    helper = cells["test_softmax"].source.partition("### CHECK")[0]
    assert "def reference_softmax_right" in helper
    cells["test_softmax_sizes"].source = helper + cells["test_softmax_sizes"].source
    assert look(FIVE, notebook) == [
        f"Cell 'test_softmax_sizes': it defines the hidden function '{name}' a second time; 'test_softmax' defines it "
        "first. Define it once, above the first check of that cell, and use it here."
        for name in ("reference_softmax", "reference_softmax_right")
    ]


def test_lines_that_students_see_use_no_name_that_only_hidden_lines_bind(look):
    notebook = nbformat.read(FIVE, as_version=4)
    change(
        "test_me",
        ("expected, expected_output = [0.1981", "print(reference_alphas)\nexpected, expected_output = [0.1981"),
    )(notebook)
    assert look(FIVE, notebook) == [
        "Cell 'test_me': its visible lines use 'reference_alphas', which only hidden lines define."
    ]


def test_a_test_cell_that_runs_in_the_candidate_has_hidden_functions_of_its_own(look):
    notebook = nbformat.read(FIVE, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    cells["test_softmax_sizes"].metadata["viva"] = {"where": "candidate"}
    cells["test_softmax_sizes"].source = (
        cells["test_softmax"].source.partition("### CHECK")[0] + cells["test_softmax_sizes"].source
    )
    assert look(FIVE, notebook) == []


def test_a_picture_needs_words(look):
    notebook = nbformat.read(FIVE, as_version=4)
    next(cell for cell in notebook.cells if cell.id == "picture").source = "A picture"
    assert look(FIVE, notebook) == [
        "Cell 'draw_map': the code draws a picture, but no text above it says what the picture shows."
    ]


def test_the_readme_must_give_the_same_points(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("Prüfung\n| assignment | points |\n|---|---|\n| `ps5_sentence` | 25 |\n", encoding="latin-1")
    assert "different points" in readme_findings(readme, "ps5_sentence", 30)[0]
    assert readme_findings(readme, "ps5_sentence", 25) == []
    assert readme_findings(tmp_path / "none.md", "ps5_sentence", 30) == []


def test_hidden_lines_that_no_page_can_be_searched_for_are_a_note_and_no_fault():
    notes = untold(nbformat.read(FIVE, as_version=4))
    assert "'return right' is too short" in notes
    assert notes == sorted(set(notes))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("viva_seed = 0\n", "viva_seed = int(0)\n"), "the value of viva_seed must be a whole number"),
        (("viva_seed = 0\nnp.random.seed(viva_seed)", "viva_seed = 0\nnp.random.seed(0)"), "no cell uses viva_seed"),
        (("viva_seed = 0\n", ""), "it uses viva_seed, which no read-only cell defines"),
    ],
)
def test_a_seed_that_no_variant_can_have_is_named(lines, said, look):
    path = next(path for path in SOURCES if path.stem == "multihead")
    notebook = nbformat.read(path, as_version=4)
    change("data", lines)(notebook)
    found = [one for one in look(path, notebook) if "viva_seed" in one]
    assert len(found) == 1 and said in found[0]


def test_default_ids_are_one_sentence_and_missing_titles_one_for_the_cells_of_as_many_points(look):
    notebook = new_notebook()
    for number in range(8):
        known = {"schema_version": 3, "grade": True, "solution": False, "locked": True, "task": False}
        known["points"] = 2 if number else 1
        name = f"cell-{number}a81"
        cell = new_code_cell(f"assert {number} >= 0", id=name, metadata={"nbgrader": known | {"grade_id": name}})
        notebook.cells.append(cell)
    found = [one for one in look(FIVE, notebook) if one.startswith("Cell")]
    assert found == [
        "Cells 'cell-0a81', 'cell-1a81', 'cell-2a81', 'cell-3a81', 'cell-4a81', 'cell-5a81' and 2 "
        "more: these ids say nothing about the cells. Name each cell after its question or check.",
        "Cell 'cell-0a81': students see the id of this cell. Add a title, as in '### CHECK (1 point): ...'.",
        "Cells 'cell-1a81', 'cell-2a81', 'cell-3a81', 'cell-4a81', 'cell-5a81', 'cell-6a81' and 1 more: students "
        "see the id of these cells. Add a title, as in '### CHECK (2 points): ...'.",
    ]
