"""The changes of a regrade, by check and student, each with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from viva.course.processes import leftovers
from viva.course.table import csv_text
from viva.verdict import NOT_DONE, Verdict
from viva.wording import counted

TOTAL = "score"
"""In place of a check: the whole submission, less the penalty for lateness."""


@dataclass(frozen=True)
class Change:
    """The points of one check of one submission before and after; None where there was no such check."""

    student: str
    notebook: str
    cell: str
    check: str
    old: float | None
    new: float | None
    why: str

    @property
    def gain(self) -> float:
        """The change in points; a missing check counts as 0 points."""
        return (self.new or 0.0) - (self.old or 0.0)


@dataclass(frozen=True)
class Group:
    """Students for whom the same check changed in the same way; the whole score by how much."""

    cell: str
    check: str
    change: str
    students: tuple[str, ...]


def grouped(changes: list[Change]) -> list[Group]:
    """Changes by check, in the order of the notebook, the score last; where most students changed first."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for entry in sorted(changes, key=lambda change: change.check == TOTAL and not change.cell):
        total = entry.check == TOTAL and not entry.cell
        old, new = ("-" if number is None else f"{number:g}" for number in (entry.old, entry.new))
        change = f"{entry.gain:+g}" if total else f"{old} -> {new}"
        groups.setdefault((entry.cell, entry.check, change), []).append(entry.student)
    places = {title: number for number, title in enumerate(dict.fromkeys(key[:2] for key in groups))}
    rows = sorted(groups.items(), key=lambda item: (places[item[0][:2]], -len(item[1]), item[0]))
    return [Group(*key, tuple(students)) for key, students in rows]


def write_csv(changes: list[Change], path: Path) -> None:
    """One row for each change, with a header."""
    rows = ([f"{cell:g}" if isinstance(cell, float | int) else cell for cell in astuple(change)] for change in changes)
    leftovers.write(path, csv_text([field.name for field in fields(Change)], rows))


def changes_of(student: str, before: dict, after: dict, renamed: dict[str, dict[str, str]]) -> Iterator[Change]:
    """The changed results of one student; ``renamed`` holds the new titles of checks by cell."""
    for cell_path, new in after["cells"].items():
        notebook, _, cell = cell_path.partition("/")
        old = before["cells"].get(cell_path, {"auto": None, "checks": {}})
        stands = "" if new["manual"] is None else f"; the manual grade of {new['manual']:g} is kept"
        names = {title: name for title, name in renamed.get(cell_path, {}).items() if title not in new["checks"]}
        checks = {names.get(check, check): result for check, result in old["checks"].items()}
        for check in {**checks, **new["checks"]}:
            was, is_ = checks.get(check), new["checks"].get(check)
            if was is None or is_ is None or was["earned"] != is_["earned"]:
                before_, after_ = (each["earned"] if each else None for each in (was, is_))
                yield Change(student, notebook, cell, check, before_, after_, _why(was, is_) + stands)
        if not new["checks"] and not checks and new["auto"] != old["auto"]:
            yield Change(student, notebook, cell, "", old["auto"], new["auto"], "its automatic score changed" + stands)
    if before["score"] != after["score"]:
        late = after["late"]
        why = "the total, with the late penalty subtracted" if late else "the total"
        if before.get("late", late) != late:
            why = f"the total, with a late penalty of {late:g} instead of {before['late']:g}"
        yield Change(student, "", "", TOTAL, before["score"], after["score"], why)


def suspects(before: dict[str, dict], after: dict[str, dict]) -> list[str]:
    """Checks that all lose who passed them: most often it is the test that is wrong."""
    (had, _), (have, checks) = map(_passes, (before, after))
    return [
        f"{cell}: {count} passed the check '{title}' before, and now nobody passes it. Check that your own "
        "solution passes it."
        for (cell, title), count in had.items()
        if count > 1 and not have[cell, title] and (cell, title) in checks
    ]


def _passes(scores: dict[str, dict]) -> tuple[Counter, set[tuple[str, str]]]:
    """How many pass each check, by cell and title; and which checks there are."""
    cells = [
        (cell_path.partition("/")[2], cell) for score in scores.values() for cell_path, cell in score["cells"].items()
    ]
    checks = [((name, title), result) for name, cell in cells for title, result in cell["checks"].items()]
    return Counter(name for name, result in checks if result["verdict"] == Verdict.PASSED), {name for name, _ in checks}


def _why(old: dict | None, new: dict | None) -> str:
    """Why a check changed what it earns, in words on one line."""
    if new is None:
        return "the check was removed"
    if old is None:
        return f"the check is new: {_said(new)}"
    if old["verdict"] == new["verdict"] == Verdict.PASSED:
        return f"it is worth {counted(new['points'], 'point')} instead of {old['points']:g}"
    if new["verdict"] == Verdict.PASSED:
        return f"it passes now; before: {_said(old)}"
    before = "it passed before" if old["verdict"] == Verdict.PASSED else f"before: {_said(old)}"
    return f"{_said(new)}; {before}"


def _said(result: dict) -> str:
    if result.get("undone"):
        return NOT_DONE
    reason = " ".join("".join(letter if letter.isprintable() else " " for letter in result["reason"]).split())
    return f"{result['verdict']}: {reason[:200]}" if reason else result["verdict"]
