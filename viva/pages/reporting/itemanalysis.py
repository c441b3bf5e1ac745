"""Each check in the results of a class: its difficulty, its discrimination, and the frequent mistakes.

``discrimination`` is the correlation between the points of a check and those of the *rest* of the notebook, so that a
check does not correlate with itself (the corrected item-total correlation; Henrysson 1963). Of a check that gives all
points or none this is the point-biserial correlation.
Near 1 it separates those who can from those who cannot; near 0 it says nothing; below 0 something is the matter with
the check, or with how the material was taught.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import correlation, median

from viva import wording
from viva.cleaning import plaintext
from viva.record import CARRIED, CheckResult, SubmissionRecord
from viva.verdict import NOT_DONE, Verdict

FEWEST = 5
"""With fewer submissions a correlation is chance."""
WORSE = -0.1
"""Below this a correlation is no longer near zero."""
SHOWN = 5
"""The most wrong results of a check that are listed."""
NUMBER = re.compile(
    r"""
    (?<![\w.]) [-+]?
    (?: 0x[0-9a-f]+
    | (?: \d+ (?:\.\d+)? | \.\d+ ) (?: e[-+]?\d+ )? j? \.? )      # as NumPy writes them too: 1.
    (?!\w)
    """,
    re.IGNORECASE | re.VERBOSE,
)
NUMBERS = re.compile(r"#(?:[\s,;\[\]()]+#)+")
REASON = 240
"""The most characters of a reason that are shown."""


@dataclass
class Mistake:
    """One wrong result, told by the sentence that came with it."""

    reason: str
    verdict: str
    students: int
    same: int
    """The number of them with exactly the same numbers."""
    undone: bool = False
    """Whether the answer is not done yet: no wrong result that students share."""


@dataclass
class Item:
    """What the class made of one check."""

    notebook: str
    cell: str
    title: str
    points: float
    taken: int = 0
    passed: int = 0
    partly: int = 0
    """The number that earned a part of its points."""
    carried: int = 0
    """The number that earned points with right answers to exercises above."""
    discrimination: float | None = None
    undefined: str = ""
    """Why there is no discrimination."""
    seconds: float | None = None
    """The median."""
    slowest: float | None = None
    mistakes: list[Mistake] = field(default_factory=list)
    others: int = 0
    """Students with a wrong result that is not listed."""
    marks: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float | None:
        """The share of those who passed; None when nobody was graded."""
        return self.passed / self.taken if self.taken else None


def items(records: Iterable[SubmissionRecord]) -> list[Item]:
    """The checks of one assignment, in the order of its notebooks, from one record for each submission."""
    items_by_key: dict[tuple, Item] = {}
    taken: dict[tuple, list[tuple[float, float]]] = defaultdict(list)
    failed: dict[tuple, list[CheckResult]] = defaultdict(list)
    seconds: dict[tuple, list[float]] = defaultdict(list)
    for record in sorted(records, key=lambda record: -sum(1 for _ in record.results())):
        earned: dict[str, float] = defaultdict(float)
        for notebook, _, result in record.results():
            earned[notebook] += result.earned
        for notebook, cell, result in record.results():
            key = notebook, cell, result.title
            items_by_key.setdefault(key, Item(*key, result.points))
            if result.verdict is Verdict.UNGRADED:
                continue
            passed = result.verdict is Verdict.PASSED
            items_by_key[key].passed += passed
            items_by_key[key].partly += result.verdict is Verdict.PARTLY
            items_by_key[key].carried += bool(result.cause and result.cause.kind == CARRIED)
            share = result.earned / result.points if result.points else float(passed)
            taken[key].append((share, earned[notebook] - result.earned))
            if result.seconds > 0:
                seconds[key].append(result.seconds)
            if not passed:
                failed[key].append(result)
    for key, item in items_by_key.items():
        _describe(item, taken[key], failed[key], seconds[key])
    return sorted(items_by_key.values(), key=lambda item: item.notebook)  # stable: the cells stay in their order


def _describe(item: Item, taken: list[tuple[float, float]], failed: list[CheckResult], seconds: list[float]) -> None:
    item.taken = len(taken)
    item.discrimination, item.undefined = discrimination(taken)
    if seconds:
        item.seconds, item.slowest = median(seconds), max(seconds)
    mistakes = group(failed)
    item.mistakes, rest = mistakes[:SHOWN], mistakes[SHOWN:]
    item.others = sum(mistake.students for mistake in rest)
    if item.taken and item.passed == item.taken:
        item.marks.append("all students pass")
    if item.taken and not item.passed and not item.partly:
        item.marks.append("all students fail")
    if item.discrimination is not None and item.discrimination < WORSE:
        item.marks.append("students who pass it have fewer points elsewhere")
    wrong = [result.students for result in item.mistakes if not result.undone and result.verdict != Verdict.PARTLY]
    if wrong and item.taken >= FEWEST and max(wrong) > item.taken / 4:
        item.marks.append("one wrong result is common")


def discrimination(taken: list[tuple[float, float]]) -> tuple[float | None, str]:
    """The correlation of the share of a check's points and the rest's points; None and why, where there is none.

    >>> round(discrimination([(1, 3), (1, 2), (1, 3), (0, 1), (0, 1)])[0], 4)
    0.9129
    """
    shares = [share for share, _ in taken]
    rest = [points for _, points in taken]
    if len(taken) < FEWEST:
        return None, f"fewer than {FEWEST} submissions"
    if max(shares) - min(shares) < 1e-9:
        return None, {1.0: "all pass", 0.0: "all fail"}.get(shares[0], "all have the same score")
    if max(rest) - min(rest) < 1e-9:
        return None, "all other scores are the same"
    return correlation(shares, rest), ""


def group(failed: list[CheckResult]) -> list[Mistake]:
    """Wrong results, those with the same sentence together whatever its numbers, the most common first."""
    groups: dict[tuple[str, str, bool], Counter] = defaultdict(Counter)
    for result in failed:
        undone = bool(result.undone)
        reason = NOT_DONE if undone else plaintext.line(wording.reason(result), REASON)
        groups[without_numbers(reason), result.word, undone][reason] += 1
    mistakes = []
    for (_, verdict, undone), reasons in groups.items():
        reason, same = min(reasons.items(), key=lambda reason_and_count: (-reason_and_count[1], reason_and_count[0]))
        mistakes.append(Mistake(reason or "without a reason", verdict, reasons.total(), same, undone))
    return sorted(mistakes, key=_place)


def _place(mistake: Mistake) -> tuple:
    """Which wrong result comes first; the words decide last, as only so many are shown."""
    return -mistake.students, mistake.verdict, mistake.undone, -mistake.same, mistake.reason


def without_numbers(reason: str) -> str:
    """A sentence in which a number, or a row of them, is one sign.

    >>> without_numbers("Row 0 sums to [0.5 1e-3], not 1.")
    'Row # sums to [#], not #'
    """
    return NUMBERS.sub("#", NUMBER.sub("#", reason))
