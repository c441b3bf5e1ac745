"""What a student reads of the repairs of their file: what it means for them, and nothing where it means nothing."""

from __future__ import annotations

MEANS_NOTHING = (
    "lost what identifies a cell",
    "had the id of another cell",
    "began with a byte order mark",
    "was read as such",
    "was read as Windows-1252",
    "held a list of cells alone",
    "is of format 3 and was upgraded",
    "says that its format is",
    "was encoded for a letter (base64)",
    "was written as for a web page",
    "stood inside another JSON document",
    "was made for another kernel",
    "the assignment's order was restored",
)
"""Words of repairs after which everything is as the student had it."""
TO_STUDENTS = {
    "a human should look at it": "a grader looks at it before it costs you points",
    "a human should look at them": "a grader looks at them before they cost you points",
    "of the student's own": "of your own",
}


def told(repairs: list[str]) -> list[str]:
    """The sentences about repairs, as their student should read them."""
    kept = [one for one in repairs if not any(words in one for words in MEANS_NOTHING)]
    for graders, students in TO_STUDENTS.items():
        kept = [one.replace(graders, students) for one in kept]
    return kept
