"""Rubric items: how they are read, applied, counted and told again."""

from __future__ import annotations

import pytest

from viva.course.gradebook.rubric import FORM, Item, applied, read_items, score_of
from viva.verdict import CourseError


def test_items_are_read_and_told_again_in_a_comment(tmp_path):
    path = tmp_path / "ps.toml"
    assert read_items(path) == []
    path.write_text(FORM + '\n[[item]]\nkey = "good"\npoints = 0.5\ntext = "Well [said] (2)."\ncell = "why"\n')
    items = read_items(path)
    assert items == [Item("mask", -1, "The mask is missing."), Item("good", 0.5, "Well [said] (2).", "why")]
    comment = f"Hello.\n{items[0].line}\n  {items[1].line}  \n* a list of one's own [x]"
    assert [(one.key, one.points, one.text) for one in applied(comment)] == [
        ("mask", -1, "The mask is missing."),
        ("good", 0.5, "Well [said] (2)."),
    ]
    assert applied(None) == applied("") == []


@pytest.mark.parametrize(
    ("points", "score"),
    [([], 5), ([-1], 4), ([-1, -0.5], 3.5), ([2], 2), ([2, 1], 3), ([2, -1], 5), ([-9], 0), ([9], 5)],
)
def test_deductions_start_from_all_points_and_awards_from_none(points, score):
    assert score_of([Item(str(place), one, "x") for place, one in enumerate(points)], 5) == score


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[item]", "is not TOML"),
        ('[[item]]\nkey = "a"\ntext = "b"', "an item needs 'key', 'points' and 'text'"),
        (FORM + '\nnote = "x"', "an item needs"),
        (FORM.replace("-1", '"-1"'), "the points of 'mask' are '-1'"),
        (FORM.replace("-1", "nan"), "the points of 'mask' are nan"),
        (FORM.replace("-1", "true"), "the points of 'mask' are True"),
        (FORM.replace('"mask"', '"the mask"'), "'the mask' is not a valid key"),
        (FORM.replace("missing.", "missing.\\nSo."), "must be one line"),
        (f"{FORM}\n{FORM}", "two items have the key 'mask'"),
        ("item = 3", "an item needs"),
    ],
)
def test_a_rubric_that_cannot_be_read_is_refused_with_a_sentence(tmp_path, text, sentence):
    (tmp_path / "ps.toml").write_text(text)
    with pytest.raises(CourseError, match=sentence.replace("[", r"\[")):
        read_items(tmp_path / "ps.toml")
