"""A notebook is taken out of whatever a program put around it, and only that."""

from __future__ import annotations

import base64
import html
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.mangling import plain
from tests.submission.cells.test_repair import ONE, bare, find, repaired, source
from tests.submission.told import read
from viva.record import doubtful
from viva.submission.cells.texts import squeezed
from viva.submission.files import wrapping
from viva.verdict import SubmissionError

SOURCES = [
    "x = 'a' + \"b\"  # it's é, \N{SNOWMAN} and \U0001f393\n",
    "print('<b>&amp;</b>', \"\\\\n\", '\\x41')\ny = None or True",
    'r"""\\"""',
]
NOTEBOOK = new_notebook(cells=[new_code_cell(source, id=f"c{number}") for number, source in enumerate(SOURCES)])
TEXT = nbformat.writes(NOTEBOOK)
PAGE = "<!DOCTYPE html>\n<html><head><title>a</title></head><body><pre style='color: red'>{}</pre><div></div></body>"


def encoded(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PAGE.format(html.escape(TEXT)), "the file was a web page that contained the notebook; the notebook was"),
        (html.escape(TEXT), "the file was HTML-escaped"),
        (TEXT.replace("&", "&amp;").replace('"', "&#34;"), "the file was HTML-escaped"),
        (encoded(TEXT), "the file was base64-encoded"),
        (repr(json.loads(TEXT)), "the file was a Python dictionary instead of JSON and was converted"),
        (ascii(NOTEBOOK), "the file was a Python dictionary instead of JSON and was converted"),
        (
            json.dumps({"encoding": "base64", "content": encoded(TEXT), "size": 9}),
            "was a JSON document that contained the notebook",
        ),
    ],
)
def test_a_wrapped_notebook_is_taken_out_letter_by_letter_and_it_is_said(text, said):
    notebook, (repair,) = read(text.encode())
    assert [cell.source for cell in notebook.cells] == SOURCES
    assert said in repair


def test_a_page_may_be_written_in_any_encoding():
    for encoding in ("utf-16", "utf-8-sig"):
        notebook, repairs = read(PAGE.format(html.escape(TEXT, quote=False)).encode(encoding))
        assert [cell.source for cell in notebook.cells] == SOURCES
        assert repairs[-1] == "the file was a web page that contained the notebook; the notebook was used"
    with pytest.raises(SubmissionError, match="a web page"):
        read(PAGE.format("Anmeldung f\N{LATIN SMALL LETTER U WITH DIAERESIS}r alle").encode("latin-1"))


def test_what_a_student_writes_about_pages_and_letters_stays_as_it_is():
    sources = ["'cell_type&quot;'", "{'cells': None}", encoded(TEXT), "<pre>{&quot;cell_type&quot;: 1}</pre>"]
    text = nbformat.writes(new_notebook(cells=[new_code_cell(source) for source in sources]))
    notebook, repairs = read(text.encode())
    assert ([cell.source for cell in notebook.cells], repairs) == (sources, [])


LOOKS = {
    "a page of JSON": PAGE.format("{&quot;a&quot;: 1}"),
    "a page of code": PAGE.format("<span>print</span>(1)"),
    "a page whose text ends before it begins": "<html></pre>cell_type<pre>",
    "a number of a character that is too long": "cell_type&quot; &#" + "9" * 5000 + ";",
    "a letter of JSON": encoded('{"cell_type": 1}'),
    "a letter of noise": "ey" * 1000,
    "quotes of Python that never end": "{'cells': ['" + r"\'" * 200_000,
    "quotes of Python that end in the middle of an escape": "{'cells': ['" + r"\'" * 200_000 + "\\",
    "a letter in JSON that never begins": json.dumps({"content": "ew" + "=" * 200_000}),
    "brackets in a text of JSON": json.dumps({"a": json.dumps("[" * 100_000)}),
    "JSON in a text of JSON that is too deep": json.dumps({"a": '{"a": ' + "[" * 100_000}),
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_only_looks_wrapped_is_refused_in_a_sentence_and_soon(look):
    with pytest.raises(SubmissionError, match="is not a notebook"):
        read(LOOKS[look].encode())


NAME = "self_attention"


def test_the_sides_of_a_text_and_what_is_on_both():
    text = "a\n<<<<<<< local\nb\n||||||| base\nx\n=======\nc\n>>>>>>> remote <modified: >\nd"
    assert wrapping.sides(text) == ("a\nb\nd", "a\nc\nd")


@pytest.mark.parametrize("text", ["", "Title\n=======\n", "<<<<<<< a\nb\n=======\n", "print('<<<<<<<')\n>>>>>>> x"])
def test_what_is_no_whole_conflict_has_no_sides(text):
    assert wrapping.sides(text) is None


def test_what_only_the_other_side_has_stands_above_what_has_its_place():
    cells = {name: {"cell_type": "code", "source": name, "outputs": [name]} for name in "abcd"}
    again = cells["a"] | {"outputs": []}
    assert wrapping.joined([cells["a"], cells["b"], cells["c"]], [again, cells["d"], cells["c"]]) == [
        cells[name] for name in "adbc"
    ]
    assert wrapping.joined([cells["a"], None], [None, cells["a"]]) == [cells["a"], None]


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("first", ["the answer", "the stub"])
def test_in_a_conflict_with_the_stub_the_answer_counts(first, strip):
    notebook = plain(ONE.full)
    cell, stub = find(notebook, NAME), find(plain(ONE.release), NAME)["source"]
    was = cell["source"]
    one, other = (was, stub) if first == "the answer" else (stub, was)
    cell["source"] = f"<<<<<<< HEAD\n{one}\n=======\n{other}\n>>>>>>> work"
    result = repaired(bare(notebook) if strip else notebook, ONE)
    assert squeezed(source(result, NAME)) == squeezed(was)
    assert "both_sides" in {repair.kind for repair in result.repairs}


def test_of_two_answers_in_a_conflict_none_is_guessed_and_a_human_is_told():
    notebook = plain(ONE.full)
    cell = find(notebook, NAME)
    was = cell["source"]
    cell["source"] = f"<<<<<<< HEAD\n{was}\n=======\n{was.replace('return', 'return 2 *')}\n>>>>>>> work"
    result = repaired(notebook, ONE)
    assert source(result, NAME) == cell["source"]
    assert f"test_{NAME}" in doubtful(result.repairs)
