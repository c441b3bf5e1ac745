"""Bytes of any kind give a notebook or a sentence."""

from __future__ import annotations

import json
import time

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.mangling import WRITING, plain
from tests.submission.told import read
from viva.submission.files import salvage
from viva.verdict import SubmissionError

SOURCES = ["import numpy as np", "x = 'é'\ny = [1,\n     2]", "**words**", "print('{\"cell_type\": 1}')"]
NOTEBOOK = new_notebook(
    cells=[
        new_code_cell(SOURCES[0]),
        new_code_cell(SOURCES[1]),
        new_markdown_cell(SOURCES[2]),
        new_code_cell(SOURCES[3]),
    ]
)
TEXT = nbformat.writes(NOTEBOOK)


def whole(notebook) -> None:
    nbformat.validate(notebook)
    json.dumps(notebook).encode()
    "".join(cell.source for cell in notebook.cells).encode()


SAID = {
    "with_bom": "byte order mark",
    "as_utf16": "was in UTF-16",
    "as_utf16_without_mark": "was in UTF-16-BE",
    "with_commas": "an extra comma at line",
    "with_more_behind": "the file had 27 more characters after the end of the notebook",
    "without_the_end": "the JSON is damaged at line",
    "as_format_3": "format 3 and was converted",
    "in_two_sheets": "format 3 and was converted",
    "without_a_comma": "4 complete cells were read",
    "with_words_around": "4 complete cells were read",
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_characters_are_told_without_a_mark(encoding):
    notebook, repairs = read(TEXT.encode(encoding))
    assert [cell.source for cell in notebook.cells] == SOURCES
    assert repairs == [f"the file was in {encoding.upper()} instead of UTF-8 and was read as {encoding.upper()}"]


@pytest.mark.parametrize("way", WRITING)
def test_every_way_of_writing_gives_the_same_cells(way):
    data = WRITING[way](plain(NOTEBOOK))
    notebook, repairs = read(data)
    whole(notebook)
    assert [cell.source for cell in notebook.cells] == SOURCES
    assert [cell.cell_type for cell in notebook.cells] == ["code", "code", "markdown", "code"]
    assert len(repairs) == (way in SAID)
    assert SAID.get(way, "") in " ".join(repairs)


def test_what_needs_no_repair_has_no_sentence_and_keeps_its_ids():
    notebook, repairs = read(TEXT.encode())
    assert repairs == []
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in NOTEBOOK.cells]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b" \n\0\0", "is empty"),
        (b"%PDF-1.7", "a PDF"),
        (b"PK\x03\x04aaaa", "a zip"),
        (b"BZh91AY&SY", "a compressed archive"),
        (b"bplist00\xd4", "a macOS or iCloud placeholder; the notebook itself is missing"),
        (b"\0\5\x16\7\0\2\0\0Mac OS X", "a macOS metadata file; the notebook itself is missing"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE plist><plist><dict/></plist>', "an XML file"),
        (b"\x80abc", "is not a text file"),
        (b"\xff\xfe{\x00", "invalid JSON at line 1"),
        (b"import numpy", "invalid JSON at line 1, column 1"),
        (b'{"cells": [', "invalid JSON at line 1, column 12"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "has no cells of notebook format 4"),
        (b'{"nbformat": 4}', "has no cells of notebook format 4"),
        (b'{"nbformat": 4, "cells": []}', "a notebook without cells"),
        (b'{"nbformat": 3, "worksheets": []}', "a notebook without cells"),
        (b'{"cells": [%s]}' % b",".join([b"{}"] * 3000), "has 3000 cells"),
    ],
)
def test_what_is_no_notebook_is_said(data, problem):
    with pytest.raises(SubmissionError, match=problem.replace("(", r"\(")):
        read(data)


def test_cells_before_and_after_a_break_are_read_and_the_place_is_said():
    lines = TEXT.splitlines()
    place = next(number for number, line in enumerate(lines) if "[1," in line)
    lines[place] = lines[place][:8]
    notebook, repairs = read("\n".join(lines).encode())
    assert [cell.source for cell in notebook.cells] == [SOURCES[0], *SOURCES[2:]]
    assert f"the JSON is damaged at line {place + 2}" in repairs[0]
    assert "3 complete cells were read, the text at the damage is lost" in repairs[0]


@pytest.mark.parametrize("bad", [b"\xed\xa0\xbd", b"\xff", b"\xc3"])
def test_a_byte_that_is_no_text_does_not_change_the_letters_of_a_whole_file(bad):
    data = TEXT.replace("import", "'αβγ'; import").encode()
    notebook, repairs = read(data + bad)
    assert any("'αβγ'; import" in cell.source for cell in notebook.cells)
    assert "holds bytes that are not text" in repairs[0]


@pytest.mark.parametrize(
    ("cell", "source", "said"),
    [
        ({"cell_type": "code", "source": [["a = 1\n"], ["b = 2"]]}, "a = 1\nb = 2", "had its text in several parts"),
        ({"cell_type": "code", "source": ["a = 1", "b = 2"]}, "a = 1\nb = 2", "lines without line breaks"),
        ({"cell_type": "code", "source": {"a": 1}}, "", "had no text"),
        ({"cell_type": "code", "source": "a\0 = 1"}, "a = 1", "control characters"),
        ({"cell_type": "code", "source": "a = \\\r\r\n1\x0bb = 2\rc = 3\r\n"}, "a = \\\n1\nb = 2\nc = 3\n", ""),
        ({"cell_type": "code", "source": "\ud800"}, "\ufffd", "control characters"),
        ({"cell_type": "quantum", "source": "a", "outputs": []}, "a", "read as code"),
        ({"source": "a"}, "a", "read as markdown"),
        ({"cell_type": "code", "source": "a", "metadata": 3}, "a", "metadata of a wrong type"),
        ({"cell_type": "code", "source": "a", "metadata": {"nbgrader": {"grade_id": []}}}, "a", "nbgrader metadata"),
        ({"cell_type": "code", "source": "a", "outputs": "x"}, "a", "had outputs that were not valid"),
        ({"cell_type": "heading", "level": 2, "source": "a"}, "## a", ""),
        ({"cell_type": "heading", "level": 2.0, "source": "a"}, "## a", ""),
        ({"cell_type": "code", "source": "a", "id": "not an id!"}, "a", ""),
    ],
)
def test_nonsense_in_a_cell_is_left_out_and_said(cell, source, said):
    notebook, repairs = read(json.dumps({"nbformat": 4, "cells": [cell]}).encode())
    whole(notebook)
    assert notebook.cells[0].source == source
    assert (said in repairs[0]) if said else not repairs


def test_a_cell_that_is_none_is_left_out():
    notebook, repairs = read(
        json.dumps({"nbformat": 4, "cells": [None, {"cell_type": "raw", "source": "a"}, 3]}).encode()
    )
    assert len(notebook.cells) == 1
    assert repairs == ["each of the cells 1, 3 was not valid and was ignored"]


def test_ids_become_unique_the_same_way_each_time():
    cells = [{"cell_type": "code", "source": "", "id": "a"}] * 2 + [{"cell_type": "code", "source": ""}]
    data = json.dumps({"nbformat": 4, "cells": cells}).encode()
    assert [cell.id for cell in read(data)[0].cells] == ["a", "handed-in-2", "handed-in-3"]
    assert read(data) == read(data)


def test_pictures_in_a_written_answer_stay():
    cell = {"cell_type": "markdown", "source": "", "attachments": {"a.png": {"image/png": "AA=="}, "b": 3}}
    assert read(json.dumps({"nbformat": 4, "cells": [cell]}).encode())[0].cells[0].attachments == {
        "a.png": {"image/png": "AA=="}
    }


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(0, len(TEXT)), st.integers(0, 200), st.booleans())
def test_any_bytes_are_a_notebook_or_a_sentence(noise, place, length, alone):
    data = noise if alone else TEXT.encode()[:place] + noise + TEXT.encode()[place + length :]
    try:
        whole(read(data)[0])
    except SubmissionError as error:
        assert str(error)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["code", "markdown"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from("cell_type source metadata outputs id nbgrader grade_id attachments input a".split()), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(values, min_size=1, max_size=5), values)
@pytest.mark.slow
def test_any_json_for_cells_is_a_notebook_or_a_sentence(cells, metadata):
    data = json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells}).encode()
    try:
        whole(read(data)[0])
    except SubmissionError as error:
        assert str(error)


HOSTILE = {
    "quotes": '{"cells": [' + '\\"' * 500_000,
    "open strings": '{"cells": [' + '"a' * 500_001,
    "open cells": '{"cells": [' + '{"cell_type": [' * 100_000,
    "commas": '{"cells": [' + ", " * 1_000_000,
    "spaces": '{"cells": [{' + " " * 2_000_000,
    "braces": '{"cells": [' + "{ " * 1_000_000,
    "digits": '{"cells": [' + "1" * 2_000_000 + "]}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_bounded(name):
    start = time.monotonic()
    with pytest.raises(SubmissionError):
        read(HOSTILE[name].encode())
    assert time.monotonic() - start < 5


def test_of_a_file_that_nobody_gains_from_forging_what_was_written_into_it_is_kept():
    kept = {"nbgrader": {"grade_id": "a", "points": 2}, "viva": {"seconds": 3}}
    cell = {"cell_type": "code", "source": "1", "metadata": kept | {"other": {"a": 1}}}
    file = {"cells": [{**cell, "metadata": 5}, None, cell], "metadata": kept, "nbformat": 4}
    notebook = salvage.read(json.dumps(file).encode(), trusting=True)[0]
    assert [dict(part.metadata) for part in (notebook, *notebook.cells)] == [kept, {}, kept]
    assert "points" not in str(salvage.read(json.dumps(file).encode())[0])


def test_a_cell_that_lost_its_text_with_a_line_of_the_file_makes_the_file_a_damaged_one():
    """An answer that is blank may have stood there, though the rest is whole."""
    whole = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "x = 1"}
    for lost in ({"source": None}, {"source": 3}, None):
        cell = whole | lost if lost else {key: value for key, value in whole.items() if key != "source"}
        notebook, repairs = read(json.dumps({"nbformat": 4, "cells": [whole, cell]}).encode())
        assert [cell.source for cell in notebook.cells] == ["x = 1", ""]
        assert notebook.metadata.damaged and repairs == ["cell 2 had no text"]
    assert (
        "damaged"
        not in read(json.dumps({"nbformat": 4, "cells": [whole, whole | {"source": []}]}).encode())[0].metadata
    )
