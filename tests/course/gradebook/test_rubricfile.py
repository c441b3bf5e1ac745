"""A rubric's file in which one item is edited: all else stays as the instructor wrote it."""

from __future__ import annotations

import pytest

from viva.course.gradebook.rubric import Item, read_items
from viva.course.gradebook.rubricfile import RubricFile
from viva.verdict import CourseError

KEPT = """# Our rubric.

[[item]]
text = 'No "mask".'  # as said in week 3
points=-1            # was -2
key = "mask"

[[item]]
  key = "sign"   # the other way round
  points = -0.5
  text = "The sign is \\u0077rong. # not a comment"
  cell = "why"
# the end
"""


def file_with(folder, text: str) -> RubricFile:
    (folder / "ps.toml").write_bytes(text.encode())
    return RubricFile.read(folder / "ps.toml")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("key", "points", "text", "before", "after"),
    [
        ("mask", -2, 'No "mask".', "points=-1 ", "points=-2 "),
        ("mask", -1, "None at all.", "'No \"mask\".'", '"None at all."'),
        ("sign", 0.25, "The sign is wrong. # not a comment", "points = -0.5", "points = 0.25"),
        (
            "sign",
            -0.5,
            'C:\\ "x" \x7f\t ü',
            '"The sign is \\u0077rong. # not a comment"',
            '"C:\\\\ \\"x\\" \\u007f\\t ü"',
        ),
    ],
)
def test_only_the_two_values_change_and_comments_order_and_line_ends_stay(
    tmp_path, ending, key, points, text, before, after
):
    original = KEPT.replace("\n", ending)
    file = file_with(tmp_path, original)
    new = file.changed(key, points, text)
    assert new.text == original.replace(before, after) and new.version != file.version
    new.write()
    assert (tmp_path / "ps.toml").read_bytes().decode() == new.text
    assert {one.key: one for one in read_items(tmp_path / "ps.toml")}[key] == Item(
        key, points, text, file.item(key).cell
    )
    assert file.changed(key, file.item(key).points, file.item(key).text).text == original


@pytest.mark.parametrize("before", ["", KEPT, KEPT.rstrip("\n"), KEPT.replace("\n", "\r\n")])
def test_a_new_item_stands_at_the_end_and_goes_again(tmp_path, before):
    file = file_with(tmp_path, before)
    new, key = file.added(-0.5, " The mäsk is <missing>: all of it. ", "why")
    assert key == "the-mask-is" and new.text.startswith(before)
    assert new.item(key) == Item(key, -0.5, "The mäsk is <missing>: all of it.", "why")
    again, other = new.added(1, "The mask is missing!", "why")
    assert other == "the-mask-is-2" and again.added(1, "Нет", "")[1] == "item"
    assert new.without(key).text.rstrip() == before.rstrip()
    assert again.without(key).item(other) and again.without(key).without(other).text.rstrip() == before.rstrip()


ORDERED = """# Our rubric.

[[item]]
key = "a"
points = -1
text = "A."

# From week 3:
[[item]]
key = "b"  # the second
points = -1
text = "B."
[[item]]
key = "c"
points = -1
text = "C."

"""
A, B, C = (
    '[[item]]\nkey = "a"\npoints = -1\ntext = "A."',
    '# From week 3:\n[[item]]\nkey = "b"  # the second\npoints = -1\ntext = "B."',
    '[[item]]\nkey = "c"\npoints = -1\ntext = "C."',
)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["\n\n", "\n", ""])
def test_an_item_moves_or_goes_with_its_comments_and_all_other_lines_stay(tmp_path, ending, tail):
    file = file_with(tmp_path, f"{ORDERED.rstrip()}{tail}".replace("\n", ending))
    text = "# Our rubric.\n\n{}\n\n{}\n{}".format
    for new, expected in (
        (file.moved("a", "b"), text(B, A, C)),
        (file.moved("c", "b"), text(A, C, B)),
        (file.moved("c", "a"), text(C, A, B)),
        (file.moved("b", "b"), text(A, B, C)),
        (file.without("a"), f"# Our rubric.\n\n{B}\n{C}"),
        (file.without("b"), f"# Our rubric.\n\n{A}\n\n{C}"),
        (file.without("c"), f"# Our rubric.\n\n{A}\n\n{B}"),
        (file.without("c").without("a"), f"# Our rubric.\n\n{B}"),
        (file.without("c").without("a").without("b"), "# Our rubric.\n\n# From week 3:"),
    ):
        assert new.text.replace("\r", "").rstrip() == expected


def test_items_that_are_written_inline_are_neither_moved_nor_deleted(tmp_path):
    file = file_with(tmp_path, 'item = [{key = "a", points = -1, text = "x"}, {key = "b", points = -1, text = "x"}]')
    for act in (lambda: file.moved("a", "b"), lambda: file.without("a")):
        with pytest.raises(CourseError, match="cannot be changed here"):
            act()


@pytest.mark.parametrize(
    ("text", "key", "points", "said", "sentence"),
    [
        ('item = [{key = "a", points = -1, text = "x"}]', "a", -2, "x", "cannot be changed here"),
        ('[item]\nkey = "a"\npoints = -1\ntext = "x"', "a", -2, "x", "cannot be changed here"),
        ('[[item]]\nkey = "a"\npoints = -1\ntext = """x"""', "a", -1, "y", "cannot be changed here"),
        ('[[item]]\nkey = "a"\n"points" = -1\ntext = "x"', "a", -2, "x", "cannot be changed here"),
        ('[[item]]\nkey = "a"\npoints = -1\ntext = """\\\n  points = 3"""', "a", -2, "points = 3", ""),
        (KEPT, "nothing", -2, "x", "has no item 'nothing'"),
        (KEPT, "mask", float("nan"), "x", "the points of 'mask' are nan"),
        (KEPT, "mask", float("inf"), "x", "the points of 'mask' are inf"),
        (KEPT, "mask", 1e6, "x", "the points of 'mask' are 1000000.0"),
        (KEPT, "mask", 1e-5, "x", "the points of 'mask' are 1e-05"),
        (KEPT, "mask", -1, " ", "must be one line"),
        (KEPT, "mask", -1, 'x"\n[[item]]', "must be one line"),
        (KEPT, "mask", -1, "x\u2028y", "must be one line"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_else_changes(tmp_path, text, key, points, said, sentence):
    file = file_with(tmp_path, text)
    if not sentence:
        assert file.changed(key, points, said).item(key) == Item(key, points, said)
        return
    with pytest.raises(CourseError, match=sentence):
        file.changed(key, points, said)
    assert (tmp_path / "ps.toml").read_text() == text


def test_a_file_that_changed_since_it_was_read_is_refused(tmp_path):
    file = file_with(tmp_path, KEPT)
    file.require(file.version)
    assert RubricFile.read(tmp_path / "none.toml").version == ""
    with pytest.raises(CourseError, match="was changed after you opened this page"):
        file_with(tmp_path, KEPT + "\n").require(file.version)
