"""A grader reads the cells that ask for a name as they were released, and everything else as it was handed in."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from tests.oral import code_cell
from viva.submission.blind import Blind
from viva.submission.work import Work

FORM = 'NAME = ""\nCOLLABORATORS = ""'


@pytest.fixture
def config(tmp_path) -> Config:
    """A course whose header asks for names, and whose footer for a signature."""
    text = new_markdown_cell("Your group: ____", id="group")
    setup = code_cell("setup", "DATA = 'a.csv'", locked=True)
    nbformat.write(new_notebook(cells=[text, new_code_cell(FORM, id="name"), setup]), tmp_path / "header.ipynb")
    nbformat.write(new_notebook(cells=[new_code_cell("SIGNED = 'no'", id="sign")]), tmp_path / "footer.ipynb")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.IncludeHeaderFooter.header, config.IncludeHeaderFooter.footer = "header.ipynb", "footer.ipynb"
    return config


def blinded(config: Config, *cells) -> tuple[list, list[str]]:
    notebook, resources = Blind(config=config).preprocess(new_notebook(cells=list(cells)), {})
    return notebook.cells, Work.of(resources).record.names


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ('NAME = "Anna Schmidt"\nCOLLABORATORS = "ben, Zoë"', ["Anna Schmidt", "Anna", "Schmidt", "ben", "Zoë"]),
        ('NAME = "demo-03"\nCOLLABORATORS[0] = ""', ["demo-03"]),
        ("# by Anna\nNAME: str = 'x'", []),
        ("NAME = Anna Schmidt\nCOLLABORATORS = None", ["Anna Schmidt", "Anna", "Schmidt"]),
        ('NAME = """Anna\nSchmidt"""\nx = 1', ["Anna", "Schmidt"]),
        ('NAME="None"', []),
        ('NAME = "we did this all alone with the help of Bob"', ["Bob"]),
    ],
)
def test_what_was_typed_into_a_field_is_blank_again_and_known(config, typed, names):
    output = new_output("stream", name="stdout", text="Anna")
    (cell,), found = blinded(config, new_code_cell(typed, id="elsewhere", outputs=[output]))
    assert (cell.source, cell.outputs) == (FORM, [])
    assert found == names


def test_header_texts_and_the_footer_come_back_too(config):
    cells, names = blinded(config, new_markdown_cell("Your group: Anna", id="group"), new_code_cell("SIGNED = 'Anna'"))
    assert [cell.source for cell in cells] == ["Your group: ____", "SIGNED = 'no'"]
    assert names == ["Anna"]


@pytest.mark.parametrize(
    "cell",
    [
        new_code_cell("NAMES = 'Anna'"),
        new_code_cell("if True:\n    NAME = 'Anna'"),
        new_code_cell("NAME == 'Anna'"),
        new_code_cell("DATA = 'b.csv'"),
        new_markdown_cell("NAME = 'Anna'", id="answer"),
        code_cell("answer", "NAME = 'Anna'", solution=True, locked=False),
        code_cell("tests", "NAME = 'Anna'", grade=True, points=1),
    ],
)
def test_whatever_else_a_student_wrote_is_left_alone(config, cell):
    source = cell.source
    (after,), names = blinded(config, cell)
    assert (after.source, names) == (source, [])


def test_a_course_may_ask_for_the_names(config):
    config.Blind.show_names = True
    (cell,), names = blinded(config, new_code_cell('NAME = "Anna"'))
    assert (cell.source, names) == ('NAME = "Anna"', ["Anna"])


def test_without_a_header_nothing_is_a_field(config):
    config.IncludeHeaderFooter.header = ""
    config.IncludeHeaderFooter.footer = "gone.ipynb"
    assert blinded(config, new_code_cell('NAME = "Anna"'))[0][0].source == 'NAME = "Anna"'
