from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import Check
from viva.verdict import AnswerError
from viva_audit.answers import fill_in, read_answer, read_answers

BLUEPRINT = Blueprint(
    "nb",
    (
        Cell("setup", "given", "import math"),
        Cell("double", "answer", "### BEGIN SOLUTION\ndef double(x):\n    return 2 * x\n### END SOLUTION"),
        Cell("half", "answer", "### BEGIN SOLUTION\nhalf = 1\n### END SOLUTION"),
        Cell("test", "tests", "", 3, "", (Check("one", 1, ""), Check("two", 2, ""))),
        Cell("why", "text", "YOUR ANSWER HERE"),
    ),
)

WRONG = '''"""It adds where it should multiply.

Loses:
    test: two
Keeps:
    everything else
"""

# %% double
def double(x):
    return x + 2

# %% [markdown] why
# Because.
#
# That is *why*.

# %% [solution] *
'''


@pytest.fixture
def release():
    cells = {"setup": "import math", "double": "stub", "half": "stub", "test": "assert", "why": "YOUR ANSWER HERE"}
    makers = {"why": new_markdown_cell}
    return new_notebook(cells=[makers.get(name, new_code_cell)(source, id=name) for name, source in cells.items()])


@pytest.fixture
def write(tmp_path):
    def write(text, folder="wrong"):
        path = tmp_path / folder / "answer.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_a_wrong_answer_may_say_why_no_visible_check_warns_of_it(write):
    answer = read_answer(write(WRONG.replace("\nLoses:", "\nhidden: an attack\n\nLoses:")))
    assert (answer.hidden, answer.summary) == ("an attack", "It adds where it should multiply.")
    assert read_answer(write(WRONG.replace("else\n", "else\nhidden: an attack\n"))).keeps == ("everything else",)
    assert read_answer(write(WRONG)).hidden == ""


def test_a_right_answer_gives_no_reason_why_nothing_warns(write):
    with pytest.raises(AnswerError, match="a right answer needs no line 'hidden:'"):
        read_answer(write('"""Doubles.\n\nhidden: an attack\n"""\n\n# %% [solution] *\n', "right"))


def test_a_wrong_answer_names_the_checks_it_loses(write):
    answer = read_answer(write(WRONG))
    assert answer.summary == "It adds where it should multiply."
    assert answer.lost_checks(BLUEPRINT) == {("test", "two")}


def test_sections_replace_answer_cells_and_the_rest_is_the_solution(write, release):
    submission = fill_in(read_answer(write(WRONG)), release, BLUEPRINT)
    sources = {cell.id: cell.source for cell in submission.cells}
    assert sources["double"] == "def double(x):\n    return x + 2"
    assert sources["half"] == "half = 1"
    assert sources["why"] == "Because.\n\nThat is *why*."
    assert sources["test"] == "assert"
    nbformat.validate(submission)


def test_cells_that_no_section_names_stay_as_released(write, release):
    answer = read_answer(write(WRONG.replace("# %% [solution] *\n", "")))
    assert {cell.id: cell.source for cell in fill_in(answer, release, BLUEPRINT).cells}["half"] == "stub"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", "syntax error"),
        ("x = 1", "needs a docstring"),
        ('"""Right?"""', "needs a list 'Loses:'"),
        (
            WRONG.replace("# %% double", "x = 1\n\n# %% double"),
            "the first line of code must be '# %% grade_id'. There is other code",
        ),
        (WRONG + "\n# %% double\n", "two sections for 'double'"),
        (WRONG + "\n# %% dou ble\n", "does not start a section. Write '# %% grade_id"),
    ],
)
def test_a_file_that_is_no_known_answer_is_refused_in_words(write, text, message):
    with pytest.raises(AnswerError, match=message):
        read_answer(write(text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("test: two", "test: three", "Write the new name of the check, or delete the file if you do not"),
        ("    everything else", "    test: *", "twice: under 'Loses:' and under 'Keeps:'. Remove one"),
        ("    everything else", "    nothing", "does not name 'test: one'"),
    ],
)
def test_a_promise_that_does_not_fit_the_assignment_is_refused_in_words(write, old, new, message):
    with pytest.raises(AnswerError, match=message):
        read_answer(write(WRONG.replace(old, new))).lost_checks(BLUEPRINT)


def test_a_cell_called_everything_and_a_title_with_a_colon_are_named_like_others(write):
    checks = (Check("one", 1, ""), Check("the rows: they sum to one", 2, ""))
    blueprint = Blueprint("nb", tuple(Cell(name, "tests", "", 3, "", checks) for name in ("test", "everything")))
    lines = "test: the rows: they sum to one\n    everything: one"
    answer = read_answer(write(WRONG.replace("test: two", lines)))
    assert answer.lost_checks(blueprint) == {("test", "the rows: they sum to one"), ("everything", "one")}


def test_a_right_answer_promises_nothing(write):
    with pytest.raises(AnswerError, match="a right answer keeps every check"):
        read_answer(write(WRONG, "right"))


def test_a_section_for_a_locked_cell_is_refused(write, release):
    with pytest.raises(AnswerError, match="no answer cell 'setup'"):
        fill_in(read_answer(write(WRONG.replace("%% double", "%% setup"))), release, BLUEPRINT)


IN_R = """# It adds where it should multiply.
#
# Loses:
#     test: two

# %% double
double <- function(x) x + 2

# %% [markdown] why
# Because.
"""


def test_an_answer_in_another_language_says_in_a_comment_what_it_loses(tmp_path, write):
    write(WRONG)
    folder = tmp_path / "wrong"
    (folder / "adds.R").write_text(IN_R)
    (folder / "adds.scm").write_text(IN_R.replace("# ", ";; ").replace("#\n", ";;\n"))
    (folder / "notes.txt").write_text("not an answer")
    for language, ending in (("R", ".R"), ("scheme", ".scm")):
        (answer,) = read_answers(tmp_path, language)
        assert answer.path.suffix == ending and answer.summary == "It adds where it should multiply."
        assert [check.title for check in answer.lost_checks(BLUEPRINT)] == ["two"]
        assert answer.sections["double"].source == "double <- function(x) x + 2"
        assert answer.sections["why"].source == "Because."
    assert [answer.path.suffix for answer in read_answers(tmp_path)] == [".py"]


def test_code_above_the_first_section_is_refused_in_another_language_too(tmp_path):
    path = tmp_path / "wrong" / "adds.R"
    path.parent.mkdir()
    path.write_text(f"library(stats)\n{IN_R}")
    with pytest.raises(AnswerError, match="There is other code above it"):
        read_answer(path)
