"""Sentences of other packages on pages; tests/test_doors.py has a page with one."""

from viva.pages.additions import Addition, by_cell


def test_sentences_stand_at_their_cell_each_in_one_line():
    parts = [Addition("One\nline.", "a"), Addition("Two.", "b"), Addition("Three.", "a")]
    assert by_cell(parts) == {"a": ["One line.", "Three."], "b": ["Two."]}
