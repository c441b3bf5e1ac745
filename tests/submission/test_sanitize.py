from __future__ import annotations

import copy
import json

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from tests import hostile
from tests.cleaning.test_markup import FRAMES
from tests.conftest import SHORT, hand_in, load
from tests.handmade import write_notebook
from viva.course.gradebook.results import Results
from viva.submission.sanitize import Sanitize, clean_output, clean_text, given_texts, made_output
from viva.submission.sanitize import sanitize as clean
from viva.submission.work import Work
from viva.wording import sentences


def sanitize(notebook, given=frozenset()):
    return sentences(clean(notebook, given))


FRAME = {"text/html": FRAMES["numbers"]._repr_html_(), "text/plain": "   a  b"}
HARMLESS = [
    new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m a < b & c\n50%|#####|\r100%|##########|\n"),
    new_output("stream", name="stderr", text="Warning: שלום ‏ 中文\n"),
    new_output("error", ename="ValueError", evalue="<b>", traceback=["\x1b[0;31mValueError\x1b[0m: <b>"]),
    new_output("execute_result", data=FRAME, execution_count=3),
    new_output(
        "display_data",
        data={"image/png": hostile.png(400, 300), "text/plain": "<Figure size 400x300>"},
        metadata={"image/png": {"width": 400, "height": 300}},
    ),
    new_output("display_data", data={"text/latex": r"$\displaystyle \frac{a}{b}$", "text/plain": "a/b"}),
    new_output("display_data", data={"text/markdown": "**bold** $x$", "text/plain": "bold"}),
]


def cleaned(output) -> tuple[dict | None, list[str]]:
    removed: list[str] = []
    return clean_output(copy.deepcopy(output), frozenset(), removed), removed


@pytest.mark.parametrize("output", HARMLESS, ids=lambda output: output.output_type)
def test_a_harmless_output_stays_as_it_is_and_nothing_is_said(output):
    done, removed = cleaned(output)
    assert removed == []
    assert done == output or {**done, "metadata": {}} == {**output, "metadata": {}}


def test_a_text_of_the_released_notebook_stays_as_it_is_where_it_can_be_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = new_markdown_cell("Read <script>1</script>.")
    write_notebook(tmp_path / "source" / "ps1" / "one.ipynb", given, new_code_cell("1"))
    by_nbconvert = {"assignment_id": "ps1", "notebook_id": "one"}
    for resources in ({"nbgrader": {"assignment": "ps1", "notebook": "one"}}, by_nbconvert):
        assert given_texts(Sanitize(), resources) == {given.source}
    for part in ({"assignment_id": ""}, {"notebook_id": ""}, {"notebook_id": "two"}):
        assert given_texts(Sanitize(), by_nbconvert | part) == frozenset()
    for texts, kept in ((None, True), (frozenset(), False)):
        resources = by_nbconvert | {"nbgrader": {"viva": Work(instructor_texts=texts)}}
        notebook, _ = Sanitize().preprocess(new_notebook(cells=[copy.deepcopy(given)]), resources)
        assert (notebook.cells[0].source == given.source) == kept


def test_a_text_is_cleaned_by_its_own_attachments_whoever_handed_in_the_same():
    text = "![mine](attachment:a.png)"
    for _ in range(2):
        without = new_notebook(cells=[new_markdown_cell(text)])
        sanitize(without)
        assert "not shown: mine" in without.cells[0].source
        attachments = {"a.png": {"image/png": hostile.png(10, 10)}}
        there = new_notebook(cells=[new_markdown_cell(text, attachments=attachments)])
        sanitize(there)
        assert there.cells[0].source == text


@pytest.mark.parametrize("name", hostile.BUNDLES)
def test_of_a_hostile_output_only_harmless_data_and_sizes_stay(name):
    data, about = hostile.BUNDLES[name]
    done, removed = cleaned(new_output("display_data", data=data, metadata=about))
    text = json.dumps(done)
    for word in ("window.ran", "onload", "isolated", "filenames", "elsewhere.example", "vnd.", "onclick"):
        assert word not in text.partition("[This output is not shown")[0]
    assert removed or name in ("size that is an attribute", "file name", "isolated")


@pytest.mark.parametrize("name", hostile.PRINTED)
def test_a_printed_text_gives_no_orders_and_keeps_its_order(name):
    removed: list[str] = []
    text = clean_text(hostile.PRINTED[name], removed)
    assert all(character.isprintable() or character in "\n\r\t\x1b" for character in text)
    assert "]8;" not in text and "]0;" not in text
    assert bool(removed) == (name != "html")


def test_code_and_the_instructors_own_texts_are_never_altered():
    code = "display(HTML('<script>alert(1)</script>'))  # \u202e\x00"
    given = "<iframe src='https://video.example'></iframe> $\\def\\x{y}$"
    notebook = new_notebook(cells=[new_code_cell(code), new_markdown_cell(given)])
    assert sanitize(notebook, frozenset([given])) == []
    assert [cell.source for cell in notebook.cells] == [code, given]


def test_each_cell_that_lost_something_is_named_and_no_other():
    notebook = new_notebook(cells=[new_markdown_cell("a < b"), new_markdown_cell("<script>x</script>")])
    assert sanitize(notebook) == ["Parts of cell 2 were removed from the page: <script>."]
    assert sanitize(notebook) == []


def test_metadata_that_moves_hides_or_names_is_left_out_and_nbgraders_own_stays():
    about = {"grade_id": "a", "locked": False, "points": 1.5, "schema_version": 3, "solution": True, "checksum": "ab"}
    evil = {"transient": {"remove_source": True}, "tags": ['"><script>'], "alt": "x"}
    cells = [
        new_code_cell("1", metadata=evil | {"nbgrader": about}),
        new_code_cell("2", metadata={"nbgrader": about | {"grade_id": '"><script>'}}),
        new_raw_cell("<script>x</script><b>y</b>", metadata={"raw_mimetype": "text/html"}),
    ]
    cells[1].id = 'x"><script>'
    cells[0].svg_filename = "x"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(metadata=kernel | {"title": "<script>", "widgets": {}})
    notebook.cells = cells
    notes = sanitize(notebook)
    assert notebook.metadata == kernel
    assert [cell.metadata for cell in notebook.cells] == [{"nbgrader": about}, {}, {}]
    assert notebook.cells[2].source == "<b>y</b>"
    assert "svg_filename" not in cells[0]
    assert [note[:15] for note in notes] == ["Parts of cell 2", "Parts of cell 3"]
    nbformat.validate(notebook)


@pytest.mark.slow
def test_all_hostile_cells_together_make_a_valid_notebook_that_needs_no_second_cleaning():
    notebook = new_notebook(cells=hostile.notebook_cells())
    notes = sanitize(notebook)
    nbformat.validate(notebook)
    assert len(notes) > 60
    assert all(note.isprintable() and len(note) < 400 for note in notes)
    assert sanitize(notebook) == []


@pytest.mark.slow
def test_grading_cleans_autograded_and_leaves_what_was_handed_in(course, viva):
    answer = "It is *equivariant*: $a < b$.<script>alert(1)</script>"
    path = hand_in(course, "anna", why_equivariant_answer=answer)
    before = path.read_bytes()
    hand_in(course, "bert", why_equivariant_answer="It is *equivariant*: a < b, List[int].")
    assert viva("grade", SHORT).status == 0
    assert path.read_bytes() == before
    texts = {}
    for student in ("anna", "bert"):
        graded = nbformat.read(course / "autograded" / student / SHORT / path.name, as_version=4)
        texts[student] = next(cell.source for cell in graded.cells if cell.id == "why_equivariant_answer")
    assert "script" not in texts["anna"] and "<em>equivariant</em>: $a &lt; b$" in texts["anna"]
    assert texts["bert"] == "It is *equivariant*: a < b, List[int]."
    known = Results.of(load(course)[0].directory).read()
    assert known[SHORT, "bert"].notebooks[path.stem].sanitized == []
    (note,) = sentences(known[SHORT, "anna"].notebooks[path.stem].sanitized)
    assert note.endswith("were removed from the page: <script>.")


@pytest.mark.parametrize("student", ["<script>alert(1)<", "a\u202eb", "a\x1b]0;x\x07", "=1+1", "\uff1d1+1", 'a"b'])
def test_a_students_folder_whose_name_is_more_than_a_name_is_not_graded_and_said_so(course, viva, student):
    hand_in(course, student)
    result = viva("grade", SHORT)
    assert "rename the folder" in " ".join(result.out.split())
    assert not (course / "autograded" / student).exists()
    assert "\x1b]" not in result.text and "\u202e" not in result.text


def test_a_raw_cell_is_cleaned_of_formulas_too_and_else_stays():
    cells = [new_raw_cell(r"$\def\frac#1#2{0}$"), new_raw_cell("a < b & $x$")]
    notebook = new_notebook(cells=cells)
    assert sanitize(notebook) == [r"Parts of cell 1 were removed from the page: \def."]
    assert [cell.source for cell in notebook.cells] == [r"$\<span></span>def\frac#1#2{0}$", "a < b & $x$"]


PLOTLY = {
    "application/vnd.plotly.v1+json": {"data": []},
    "text/html": "<div> <div id='x'></div><script>1</script></div>",
}
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}, "text/plain": "IntSlider(value=3)"}


def test_of_an_interactive_output_the_picture_or_the_text_stays_and_else_a_sentence():
    picture = {"image/png": hostile.png(9, 9)}
    assert cleaned(new_output("display_data", data=PLOTLY | picture))[0].data == picture
    assert cleaned(new_output("display_data", data=WIDGET))[0].data == {"text/plain": "IntSlider(value=3)"}
    left = cleaned(new_output("display_data", data=PLOTLY))[0].data
    assert left.keys() == {"text/plain"}
    assert left["text/plain"].startswith("[This output is not shown, because it could run code or load content: ")


def test_a_sound_can_be_played_by_who_presses_its_button():
    from IPython.display import Audio

    sound = Audio([0.0, 0.5] * 4000, rate=8000)._repr_html_()
    done, removed = cleaned(new_output("display_data", data={"text/html": sound}))
    assert removed == []
    assert '<audio controls="controls">' in done.data["text/html"]
    assert sound.partition("base64,")[2][:9000] in done.data["text/html"]
    loud = sound.replace("controls=", "autoplay loop onplay='alert(1)' controls=").replace(
        "data:audio/wav", "data:text/html"
    )
    done, removed = cleaned(new_output("display_data", data={"text/html": loud}))
    assert not {"autoplay", "loop", "onplay", "src"} & set(done.data["text/html"].replace("=", " ").split())
    assert removed


FIELDS = {
    "stream": {"name": "stderr", "text": "a\n"},
    "error": {"ename": "ValueError", "evalue": "no", "traceback": ["a"]},
    "display_data": {"data": {"text/plain": "a", "application/json": {"b": [{"c": 1}]}}, "metadata": {}},
    "execute_result": {"data": {"text/plain": "a"}, "metadata": {"image/png": {"width": 3}}, "execution_count": 2},
}


@pytest.mark.parametrize("output_type", FIELDS)
def test_an_output_is_what_nbformat_makes_of_its_parts(output_type):
    made = made_output(output_type, **FIELDS[output_type])
    assert made == new_output(output_type, **FIELDS[output_type])
    assert all(isinstance(value, NotebookNode) for value in made.values() if isinstance(value, dict))
