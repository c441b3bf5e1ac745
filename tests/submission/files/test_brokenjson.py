"""Of a file that other programs wrapped, doubled or could not merge, the notebook is read, and said so."""

from __future__ import annotations

import gzip
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.submission.told import read
from viva.verdict import SubmissionError


def notebook(*sources: str) -> str:
    return nbformat.writes(new_notebook(cells=[new_code_cell(source, id=f"c{n}") for n, source in enumerate(sources)]))


ONE = notebook("x = 1", "y = 2")


def sources(text: str) -> list[str]:
    return [cell.source for cell in read(text.encode())[0].cells]


@pytest.mark.parametrize(
    "around",
    [
        lambda book: {"content": book, "type": "notebook", "name": "a"},
        lambda book: {"content": json.dumps(book), "encoding": "utf-8"},
        lambda book: [book],
        lambda book: {"files": {"a.ipynb": {"content": json.dumps(book)}}},
        lambda book: json.dumps(book),
    ],
)
def test_a_notebook_inside_another_document_is_taken_out(around):
    text = json.dumps(around(json.loads(ONE)))
    assert sources(text) == ["x = 1", "y = 2"]
    assert read(text.encode())[1] == ["the file was a JSON document that contained the notebook; the notebook was used"]


def test_of_two_notebooks_in_a_document_none_is_guessed():
    with pytest.raises(SubmissionError, match="has no cells"):
        read(json.dumps([json.loads(ONE), json.loads(notebook("z = 3"))]).encode())


def test_two_notebooks_one_after_the_other_are_read_as_one_and_the_same_again_is_left_out():
    assert sources(ONE + notebook("z = 3")) == ["x = 1", "y = 2", "z = 3"]
    assert sources(ONE + ONE) == ["x = 1", "y = 2"]


def test_of_two_notebooks_what_both_hold_is_read_once():
    found, repairs = read((notebook("a", "x = 1", "z") + notebook("a", "x = 2", "z")).encode())
    assert [cell.source for cell in found.cells] == ["a", "x = 1", "x = 2", "z"]
    assert repairs[0] == "the file had two notebooks, one after the other; they were read as one"


def test_of_more_notebooks_no_answer_is_lost_also_when_the_last_is_cut():
    blank = notebook("a", "# answer")
    assert sources(blank + blank + notebook("a", "x = 1")) == ["a", "# answer", "x = 1"]
    found, repairs = read((blank + notebook("a", "x = 1", "y = 2")[:-80]).encode())
    assert [cell.source for cell in found.cells] == ["a", "# answer", "a", "x = 1"]
    assert found.metadata.damaged
    assert "the JSON ends here, but more text follows" in repairs[0]


def test_a_comma_too_many_in_what_is_around_a_notebook_does_not_hide_it():
    assert sources(json.dumps({"content": json.loads(ONE)})[:-1] + ",}") == ["x = 1", "y = 2"]


@pytest.mark.parametrize("blank", ["\N{NO-BREAK SPACE}", "\u2028", "\ufeff", "\0"])
def test_blanks_that_json_does_not_know_are_left_out_between_values_and_kept_in_texts(blank):
    found, repairs = read(
        blank.encode() + notebook("x = 1", "y = '\N{NO-BREAK SPACE}'").replace("\n ", "\n" + blank).encode()
    )
    assert [cell.source for cell in found.cells] == ["x = 1", "y = '\N{NO-BREAK SPACE}'"]
    assert "damaged" not in found.metadata
    assert any("JSON" in each or "byte order mark" in each for each in repairs)


def test_of_a_file_without_its_head_the_whole_cells_are_read_and_a_loss_is_said():
    found, (repair,) = read(ONE[ONE.index('"cell_type"') + 9 :].encode())
    assert [cell.source for cell in found.cells] == ["y = 2"]
    assert found.metadata.damaged
    assert repair.endswith("1 complete cell was read, the text at the damage is lost")


def conflict(line: str, other: str) -> str:
    (whole,) = (each for each in ONE.splitlines() if line in each)
    return ONE.replace(whole, f"<<<<<<< HEAD\n{whole}\n=======\n    {other}\n>>>>>>> other")


def test_of_a_conflict_both_sides_are_read_and_nothing_is_lost():
    found, repairs = read(conflict('"x = 1"', '"x = 5"').encode())
    assert [cell.source for cell in found.cells] == ["x = 5", "x = 1", "y = 2"]
    assert repairs == ["the file holds an unresolved git merge conflict; both sides were read"]
    assert "damaged" not in found.metadata


def test_a_conflict_about_metadata_alone_adds_no_cell():
    assert sources(conflict('"nbformat_minor": 5', '"nbformat_minor": 4')) == ["x = 1", "y = 2"]


def test_a_conflict_of_which_one_side_is_broken_is_read_as_it_was_before_the_merge_and_the_file_is_damaged():
    found, repairs = read(conflict('"x = 1"', '"x = 5').encode())
    assert [cell.source for cell in found.cells] == ["x = 1", "y = 2"]
    assert repairs == ["the file holds an unresolved git merge conflict; the version before that merge was read"]
    assert found.metadata.damaged


def test_nobody_can_say_of_a_whole_file_that_it_is_damaged():
    whole = json.loads(ONE) | {"damaged": True}
    whole["metadata"]["damaged"] = True
    assert "damaged" not in read(json.dumps(whole).encode())[0].metadata


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<html>", "a web page"),
        (b"<!-- saved from url=(0014)about:internet -->\n<html>", "a web page"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (gzip.compress(b"x", mtime=0), "a compressed archive"),
    ],
)
def test_what_else_may_have_the_name_of_a_notebook_is_named(data, problem):
    with pytest.raises(SubmissionError, match=problem):
        read(data)
