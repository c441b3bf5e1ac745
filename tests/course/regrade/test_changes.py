"""What a regrade changed is told by check, and where most students changed first."""

from __future__ import annotations

from viva.course.regrade.changes import TOTAL, Change, grouped


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
