"""What was handed out is nobody's work: an untouched notebook is blank in every course, however it was saved."""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from tests import handmade
from tests.handmade import answer, code, graded
from tests.mangling import KEEPING, as_utf8, half, plain
from tests.oral import sampled
from tests.submission.cells.test_repair import ASSIGNMENTS, bare, find, release_of
from viva.record import doubtful
from viva.submission.cells.handout import Handout
from viva.submission.cells.places import Released
from viva.submission.cells.repair import ELSEWHERE, Repaired, repair
from viva.submission.files.salvage import read
from viva.wording import sentences

DOCS = Path(nbgrader.__file__).parent / "docs/source/user_guide/release/ps1"
POINTS = "points_in_meshgrid = np.array(\n    [[x, y] for x in xs for y in ys]\n)"


def constructed():
    """A course's notebook that shows in every way what its answers have to give."""
    hint = f"Make all points, for example so:\n\n```python\n{POINTS}\n```\n\nand then look at them."
    return new_notebook(
        cells=[
            new_markdown_cell(hint, id="hint"),
            handmade.text("locked_hint", f"~~~\n{POINTS}\n~~~", locked=True),
            new_markdown_cell("```python\narea = width * height\n```", id="alone"),
            new_markdown_cell("Indented, too:\n\n    def scale(x):\n        return 2 * x\n\nAs above.", id="indented"),
            new_raw_cell("slope = rise / run", id="raw"),
            new_code_cell("slope = 1  # a first guess", id="open"),
            code("given", "import numpy as np\nxs, ys = [1, 2], [3, 4]\narea = 0", locked=True),
            new_markdown_cell("![points](attachment:points.py)\n\n[area](area.png)", id="picture"),
            *(
                cell
                for name, test in (
                    ("points_in_meshgrid", "assert points_in_meshgrid.shape == (4, 2)"),
                    ("area", "assert area == 6"),
                    ("scale", "assert scale(2) == 4"),
                    ("slope", "assert slope == 0.5"),
                )
                for cell in (
                    answer(name, "# YOUR CODE HERE\nraise NotImplementedError()"),
                    graded(f"test_{name}", test, 1),
                )
            ),
            answer("default", "count = None  # YOUR CODE HERE"),
            graded("test_default", "assert count == 3", 1),
            handmade.text("why", "Why? A good answer has two sentences.", task=True, locked=True, points=2),
            new_markdown_cell("YOUR ANSWER HERE", id="why_answer"),
            new_markdown_cell("That was all for this week. Hand it in before Monday, by the usual way.", id="end"),
        ]
    )


RELEASES = {name: release_of(name) for name in ASSIGNMENTS}
RELEASES |= {f"nbgrader's {path.stem}": nbformat.read(path, as_version=4) for path in sorted(DOCS.glob("*.ipynb"))}
RELEASES["constructed"] = constructed()
for release in RELEASES.values():
    for place, cell in enumerate(release.cells, 1):
        cell.setdefault("id", f"cell-{place}")  # those of format 4.4 have none


def formatted(notebook: dict) -> None:
    """As a formatter lays code out, and one for texts their lines."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and not cell["source"].startswith(("%", "!")):
            cell["source"] = ast.unparse(ast.parse(cell["source"]))
        elif "```" not in cell["source"] and "    " not in cell["source"]:
            cell["source"] = re.sub(r"(?<=\w)\n(?=\w)", " ", cell["source"])


def lifted(notebook: dict) -> None:
    """As programs do that know no fence in a text: each block becomes a cell of code."""
    cells = []
    for cell in notebook["cells"]:
        parts = re.split(r"^(?:```|~~~)\w*\n(.*?)\n(?:```|~~~)$", cell["source"], flags=re.DOTALL | re.MULTILINE)
        if cell["cell_type"] != "markdown" or len(parts) == 1:
            cells.append(cell)
            continue
        for place, part in enumerate(parts):
            cell_type = "code" if place % 2 else "markdown"
            cells += [{"cell_type": cell_type, "metadata": {}, "source": part}] if part.strip() else []
    notebook["cells"] = cells


def ran(notebook: dict) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = "points_in_meshgrid = np.array([[1, 3]])\n"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]


SAVED = {"as it is": lambda notebook: None, "formatted": formatted, "lifted": lifted, "ran": ran}
UNSURE = ("split_answer", "merge", "merge_answers", "gather_answers", "merge_text")
"""After these a cell may hold several stubs, or half of one: it still is not done, or a human looks at it."""
TEXTS = ("join_texts", "quarto", "jupytext_without_markers")
"""After these a blank written answer stands in one cell with a text of the author's, which may be an answer."""
SAVED |= {way: lambda notebook, way=way: KEEPING[way](notebook, random.Random(way)) for way in KEEPING}


def assert_blank(result: Repaired, release) -> None:
    texts = {cell.id: cell.source for cell in result.notebook.cells}
    answers = [slot.cell for slot in Released(release).slots if slot.answers]
    assert [texts[cell.id] for cell in answers] == [cell.source for cell in answers], sentences(result.repairs)
    assert (result.answered, doubtful(result.repairs)) == (0, ()), sentences(result.repairs)


def assert_not_done_or_doubted(result: Repaired, release) -> None:
    """Unless a doubt was told, at most one answer is not as released, and it still raises as its stub does."""
    texts = {cell.id: cell.source for cell in result.notebook.cells}
    answers = [slot.cell for slot in Released(release).slots if slot.answers]
    changed = {cell.id: texts[cell.id] for cell in answers if texts[cell.id] != cell.source}
    if not doubtful(result.repairs):
        own = [text for text in changed.values() if text != ELSEWHERE]
        assert result.answered == len(own) <= 1, sentences(result.repairs)
        assert all("raise NotImplementedError" in text for text in own)


@pytest.mark.parametrize(
    ("name", "way", "strip"),
    sampled(half(RELEASES, SAVED, [False, True]), 23),
)
def test_an_untouched_notebook_is_blank_however_it_was_saved(name, way, strip):
    release = RELEASES[name]
    released = Released(nbformat.from_dict(plain(release)))
    notebook = plain(release)
    SAVED[way](notebook)
    if strip:
        bare(notebook)
    result = repair(read(as_utf8(notebook))[0], released)
    if way in UNSURE + TEXTS or (way == "shuffle" and strip):
        assert_not_done_or_doubted(result, release)
        return
    assert_blank(result, release)
    notebook["cells"].insert(1, {"cell_type": "code", "metadata": {}, "source": "print('hello')", "outputs": []})
    assert_blank(repair(read(as_utf8(notebook))[0], released), release)


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("way", ["as it is", "formatted", "lifted"])
def test_beside_one_answer_the_others_stay_blank(way, strip):
    release = constructed()
    notebook = plain(release)
    find(notebook, "scale")["source"] = "def scale(x):\n    return x + x"
    SAVED[way](notebook)
    result = repair(read(as_utf8(bare(notebook) if strip else notebook))[0], Released(constructed()))
    texts = {cell.id: cell.source for cell in result.notebook.cells}
    assert texts["scale"].startswith("def scale")
    answers = [slot.cell for slot in Released(release).slots if slot.answers]
    stubs = {cell.id: cell.source for cell in answers if cell.id != "scale"}
    assert {name: texts[name] for name in stubs} == stubs, sentences(result.repairs)
    assert doubtful(result.repairs) == ()


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("name", ["points_in_meshgrid", "area"])
def test_what_a_text_shows_counts_where_a_student_typed_it(name, strip):
    shown = {"points_in_meshgrid": POINTS, "area": "area = width * height"}[name]
    notebook = plain(constructed())
    find(notebook, name)["source"] = shown
    result = repair(read(as_utf8(bare(notebook) if strip else notebook))[0], Released(constructed()))
    assert next(cell.source for cell in result.notebook.cells if cell.id == name) == shown


def test_an_answer_that_a_student_typed_into_a_text_of_the_release_is_doubted_and_the_hint_there_is_not():
    notebook = plain(constructed())
    hint = find(notebook, "hint")
    hint["source"] += "\n\n```python\ndef scale(x):\n    return x + x\n```"
    result = repair(read(as_utf8(notebook))[0], Released(constructed()))
    texts = {cell.id: cell.source for cell in result.notebook.cells}
    assert "YOUR CODE" in texts["scale"] and texts["hint"] == hint["source"]
    assert doubtful(result.repairs) == ("test_scale",)


def test_texts_are_known_by_their_words_and_short_ones_by_their_line():
    handout = Handout([("markdown", "# Title\n\nA *long* sentence that\nis broken.\n\n- yes")], ["Beside it lay this."])
    for text in ("A long sentence that is broken.", "* yes", "**Title**", "Beside it\nlay this.", "yes\n\nTitle", ""):
        assert handout.has_text(text)
    for text in ("long", "A long sentence", "no", "A long sentence that is broken. It is mine."):
        assert not handout.has_text(text)


def test_code_is_known_by_its_statements_and_counted():
    handout = Handout([("code", "x = f(1)\n# a remark\ny = 'a'"), ("markdown", "```\nz = 3\n```")])
    assert handout.has_all(['y = (\n    "a"\n)', "z = 3"])
    assert not handout.has_all(["z = 3", "z = 3"])
    assert not handout.has_all(["# my remark"])
    deep = f"x = {' + '.join('1' * 3000)}"
    assert not handout.has_code(deep) and Handout([("code", deep)]).has_all([deep])
    assert handout.has_code("x = f( 1 )") and not handout.has_code("x = f(2)")


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    "answer",
    [
        "slope = !ls *.txt",
        "slope = %sx ls *.txt",
        "slope = get_ipython().getoutput('ls *.txt')",
        "get_ipython().system('touch slope.txt')",
        "!touch slope.txt",
        "%%bash --out slope\nls *.txt",
    ],
)
def test_an_answer_that_is_nothing_but_a_command_is_an_answer(answer, marked):
    """It was taken for no answer: the stub stood in its place, it was "not done yet", and nobody was asked."""
    release = RELEASES["constructed"]
    notebook = plain(release)
    find(notebook, "slope")["source"] = answer
    if not marked:
        del find(notebook, "slope")["metadata"]["nbgrader"]
    result = repair(read(as_utf8(notebook))[0], Released(nbformat.from_dict(plain(release))))
    assert [cell.source for cell in result.notebook.cells if cell.id == "slope"] == [answer]
    assert result.answered == 1
