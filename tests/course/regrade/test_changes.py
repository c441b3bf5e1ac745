"""What a regrade changed is told by check, and where most students changed first."""

from __future__ import annotations

from viva.course.regrade.changes import TOTAL, Change, changes_of, grouped, suspects
from viva.verdict import NOT_DONE


def test_changes_are_grouped_by_check_and_then_by_what_changed():
    def change(student, check, old, new, cell="test"):
        return Change(student, "tiny" if cell else "", cell, check, old, new, "because")

    changes = [change("anna", "a", 0, 2), change("anna", "b", 1, None), change("anna", TOTAL, 5, 6, "")]
    changes += [change("bo", "a", 0, 2), change("bo", "a[1]", 0, 1), change("bo", TOTAL, 5, 6, "")]
    changes += [change("carl", "a", 2, 0), change("carl", "b", 1, None), change("carl", TOTAL, 8, 5, "")]
    assert [(group.check, group.change, group.students) for group in grouped(changes)] == [
        ("a", "0 -> 2", ("anna", "bo")),
        ("a", "2 -> 0", ("carl",)),
        ("b", "1 -> -", ("anna", "carl")),
        ("a[1]", "0 -> 1", ("bo",)),
        (TOTAL, "+1", ("anna", "bo")),
        (TOTAL, "-3", ("carl",)),
    ]


def result(earned, verdict="failed", points=2.0, reason="no", **more):
    return {"earned": earned, "verdict": verdict, "points": points, "reason": reason} | more


def cell(auto, manual=None, **checks):
    return {"auto": auto, "manual": manual, "checks": checks}


def score(total, late=0.0, **cells):
    return {"score": total, "late": late, "cells": {f"book/{name}": one for name, one in cells.items()}}


PASSED = result(2, "passed", reason="")
BEFORE = score(
    9,
    a=cell(2, same=result(0), worth=PASSED, old=PASSED, gone=result(1), lost=PASSED, again=result(0, reason="1\n2")),
    plain=cell(1),
    kept=cell(1),
)
AFTER = score(
    7,
    2.0,
    a=cell(
        5,
        4.5,
        same=result(0, reason="other"),
        worth=result(1, "passed", 1.0),
        new=PASSED,
        lost=result(0, "error", reason=""),
        again=PASSED,
        added=result(0, undone=True),
    ),
    plain=cell(2),
    kept=cell(1),
    fresh=cell(3),
)


def test_each_changed_check_is_told_with_its_reason():
    found = list(changes_of("anna", BEFORE, AFTER, {"book/a": {"old": "new", "worth": "lost"}}))
    stands = "; the manual grade of 4.5 is kept"
    assert [(one.cell, one.check, one.old, one.new, one.why.removesuffix(stands)) for one in found] == [
        ("a", "worth", 2, 1, "it is worth 1 point instead of 2"),
        ("a", "gone", 1, None, "the check was removed"),
        ("a", "lost", 2, 0, "error; it passed before"),
        ("a", "again", 0, 2, "it passes now; before: failed: 1 2"),
        ("a", "added", None, 0, f"the check is new: {NOT_DONE}"),
        ("plain", "", 1, 2, "its automatic score changed"),
        ("fresh", "", None, 3, "its automatic score changed"),
        ("", TOTAL, 9, 7, "the total, with a late penalty of 2 instead of 0"),
    ]
    assert [one.why.endswith(stands) for one in found] == [True] * 5 + [False] * 3
    totals = [next(iter(changes_of("anna", score(1, old), score(2, new), {}))).why for old, new in ((0, 0), (2, 2))]
    assert totals == ["the total", "the total, with the late penalty subtracted"]
    assert not list(changes_of("anna", BEFORE, BEFORE, {}))


def test_a_check_that_all_lose_who_passed_it_is_suspected():
    lost = result(0)
    before = {name: score(1, a=cell(1, x=PASSED, y=PASSED, z=PASSED), b=cell(1, x=lost)) for name in ("anna", "bo")}
    before["carl"] = score(1, b=cell(1, w=PASSED))
    after = {name: score(0, a=cell(0, x=lost, y=lost)) for name in before} | {"bo": score(1, a=cell(1, y=PASSED))}
    after["carl"] = score(0, b=cell(0, w=lost))
    (sentence,) = suspects(before, after)
    assert sentence.startswith("a: 2 passed the check 'x' before, and now nobody passes it.")
