"""What one edition of an assignment changes in the other, in sentences."""

from __future__ import annotations

from viva.course.regrade.edition import BY_HAND, Edition, checks_changed, pages_changed

CHECKS = """### CHECK 1: small
assert double(2) == 4
### CHECK 3: minus one
### BEGIN HIDDEN TESTS
assert double(-1) == -2
### END HIDDEN TESTS"""


def said(old: str, new: str) -> list[str]:
    return checks_changed({"book/test": old}, {"book/test": new})


def test_hidden_lines_below_hidden_helpers_are_hidden_too():
    was = f"### BEGIN HIDDEN TESTS\nx = 2\n### END HIDDEN TESTS\n{CHECKS}"
    assert said(was, was.replace("== -2", "== -x")) == [
        "test: the check 'minus one' has a new text, in hidden lines only."
    ]


def test_each_check_that_changes_has_a_sentence():
    new = CHECKS.replace("double(2) == 4", "double(3) == 6").replace("CHECK 3: minus one", "CHECK 1: minus one")
    assert said(CHECKS, new + "\n### CHECK 0.5: zero\nassert double(0) == 0") == [
        "test: the check 'small' has a new text, which students see.",
        "test: the check 'minus one' is worth 1 point instead of 3.",
        "test: the check 'zero' was added, for 0.5 points.",
    ]
    assert said(CHECKS, CHECKS[: CHECKS.index("### CHECK 3")]) == ["test: the check 'minus one' was removed."]
    assert said(CHECKS, CHECKS.replace("small", "tiny")) == ["test: the check 'small' is called 'tiny' now."]
    assert said(CHECKS, CHECKS) == ["The checks are the same as in the present release."]


def test_a_cell_graded_by_hand_that_is_worth_something_else_has_a_sentence_and_is_looked_at_again():
    old, new = ({"book/why": f"### CHECK {points}: {BY_HAND}\n"} for points in (5, 3))
    assert checks_changed(old, new) == ["why, which is graded by hand, is worth 3 points instead of 5."]
    assert Edition(old, None).tests_otherwise(Edition(new, None), "book/why")


def test_a_new_title_is_no_other_test():
    old, new = Edition({"book/test": CHECKS}, None), Edition({"book/test": CHECKS.replace("small", "tiny")}, None)
    assert old.renamed(new) == {"book/test": {"small": "tiny"}}
    assert not old.tests_otherwise(new, "book/test")
    assert old.tests_otherwise(Edition({"book/test": CHECKS.replace("4", "5")}, None), "book/test")


def test_pages_and_files_that_changed_are_named():
    old = {"book": [["", "Text"], ["stub", "x"]], "data.csv": [["data.csv", "1a"]], "old.csv": [["old.csv", "1a"]]}
    new = {"book": [["", "Text"], ["stub", "y"]], "data.csv": [["data.csv", "2b"]]}
    (sentence,) = pages_changed(old, new, "ps")
    assert sentence.startswith(
        "The student version changed (stub, data.csv, old.csv). Students who still work on this assignment"
    )
    assert pages_changed(old, old, "ps") == ["Students do not need a new copy, because their version is the same."]
    assert pages_changed(None, new, "ps")[0].startswith("There is no student version in the old release/")
