"""A student reads of a repair what it means for them, and nothing of one that changed nothing."""

from __future__ import annotations

from tests.conftest import PROJECT
from viva.pages.repairs import MEANS_NOTHING, TO_STUDENTS, told


def test_what_means_nothing_is_left_out_and_a_doubt_says_who_looks_at_it():
    doubt = "'softmax' was handed in as a text; a human should look at it"
    assert told(["'name' and 'setup' and 1 more have lost what identifies a cell, recognised by text and place"]) == []
    assert told(["'test' was not handed in and was put back as released", doubt]) == [
        "'test' was not handed in and was put back as released",
        "'softmax' was handed in as a text; a grader looks at it before it costs you points",
    ]


def test_the_words_are_those_that_the_repair_says():
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(PROJECT.glob("viva/submission/**/*.py")))
    for words in (*MEANS_NOTHING, *TO_STUDENTS):
        assert words in code, words
