"""Trees of plain values, from a stranger: what crosses, and what is refused."""

import pytest

from viva_r.trees import UnreadableError, checked, is_empty


def texts(*words):
    return {"t": "chr", "v": [f"={word}" for word in words]}


NUMBERS = {"t": "dbl", "v": ["=0x1.8p+0", None, "=NaN", "=-Inf"]}
FACTOR = {"t": "int", "v": [1, None, 2], "a": {"levels": texts("a", "b"), "class": texts("factor")}}
ROWS = {"names": texts("n"), "row.names": {"t": "int", "v": [1]}, "class": texts("data.frame")}
FRAME = {"t": "list", "v": [{"t": "int", "v": [5]}], "a": ROWS}


def about(tree):
    return checked(tree).get("a", {})


@pytest.mark.parametrize("tree", [NUMBERS, FACTOR, FRAME, {"t": "null"}, {"t": "fun", "v": 1}])
def test_plain_values_cross_as_they_are(tree):
    assert checked(tree) == tree


def test_classes_of_a_students_own_do_not_cross_and_a_kind_of_data_frame_is_one():
    assert about(NUMBERS | {"a": {"class": texts("evil", "factor")}}) == {}
    grouped = texts("grouped_df", "tbl_df", "tbl", "data.frame")
    kept = about(FRAME | {"a": ROWS | {"class": grouped}})["class"]
    assert kept == texts("tbl_df", "tbl", "data.frame")


@pytest.mark.parametrize(
    "tree",
    [
        FACTOR | {"v": [1, 3]},
        FACTOR | {"a": {"levels": texts("a", "a"), "class": texts("factor")}},
        FRAME | {"v": [{"t": "int", "v": [5, 6]}]},
    ],
)
def test_what_only_says_that_it_is_a_factor_or_a_data_frame_crosses_without_the_class(tree):
    assert "class" not in about(tree)


@pytest.mark.parametrize(
    "tree",
    [
        None,
        {"t": "clo", "v": []},
        {"t": "dbl", "v": ["=system('id')"]},
        {"t": "dbl", "v": [1.5]},
        {"t": "int", "v": [2**31]},
        {"t": "int", "v": [True]},
        {"t": "chr", "v": ["no mark"]},
        {"t": "fun", "v": 0},
        {"t": "pkg", "v": "base::a`b"},
        {"t": "pkg", "v": "utils::View"},
        {"t": "int", "v": [1, 2], "a": {"dim": {"t": "int", "v": [3]}}},
        {"t": "int", "v": [1, 2], "a": {"dim": {"t": "int", "v": [-1, -2]}}},
        {"t": "int", "v": [1], "a": {"names": texts("a", "b")}},
    ],
)
def test_what_is_no_plain_value_is_refused(tree):
    with pytest.raises(UnreadableError):
        checked(tree)


def test_a_value_that_is_nested_too_deeply_is_refused():
    tree = {"t": "null"}
    for _ in range(200):
        tree = {"t": "list", "v": [tree]}
    with pytest.raises(UnreadableError, match="too deeply"):
        checked(tree)


def test_nothing_is_seen_in_null_in_no_values_and_in_a_data_frame_without_rows():
    none = FRAME | {"v": [{"t": "int", "v": []}], "a": ROWS | {"row.names": {"t": "int", "v": []}}}
    assert all(map(is_empty, ({"t": "null"}, {"t": "dbl", "v": []}, none)))
    assert not is_empty(FRAME) and not is_empty(NUMBERS) and not is_empty({"t": "fun", "v": 1})
