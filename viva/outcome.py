"""What a notebook came to: verdicts and points of its checks, outputs of its cells."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field

from viva.blueprint import Cell
from viva.verdict import Verdict

ITEMS, CHARACTERS, LONGEST = 2000, 20_000_000, 20_000
"""So many outputs of a cell, so much in those of a notebook, and so much of a reason is kept of what is sent."""
MOST_COUNT = 10**6
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no file can hold."""


@dataclass
class CheckResult:
    """What one check came to."""

    title: str
    points: float
    verdict: Verdict
    earned: float = 0.0
    reason: str = ""
    traceback: str = ""
    printed: str = ""
    seconds: float = 0.0
    raised_by: str = ""
    """Whose exception ended the check: the ``student``'s, the ``test``'s or the ``grader``'s."""


@dataclass
class Outcome:
    """What a notebook came to: results by grade cell, outputs by index of the notebook's cells, the grader's faults."""

    checks: dict[str, list[CheckResult]] = field(default_factory=dict)
    outputs: dict[int, tuple[list[dict], int | None]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    walled: bool = True
    integrity: list[str] = field(default_factory=list)
    """Facts about what the notebook did to its process; they cost nothing."""
    room: int = CHARACTERS
    """How much more its outputs may hold."""

    def keep(self, index: int, reply: dict) -> None:
        """Keep the outputs of a cell, unless it has been run before."""
        if index not in self.outputs:
            outputs = outputs_of(reply, self.room)
            self.room -= len(json.dumps(outputs))
            self.outputs[index] = outputs, count_of(reply)

    def record(self) -> dict[str, list[dict]]:
        """The results of the checks as JSON knows them."""
        return {
            cell: [vars(result) | {"verdict": str(result.verdict)} for result in results]
            for cell, results in self.checks.items()
        }

    def earned(self, cell: str) -> float | None:
        """The points of a grade cell; None when the grader could not grade it."""
        results = self.checks.get(cell, [])
        if any(result.verdict is Verdict.UNGRADED for result in results):
            return None
        return sum(result.earned for result in results)


def score(cell: Cell, reports: list[dict], skip: int = 0) -> list[CheckResult]:
    """Reports with their points; a number as the last value of a cell is partial credit, as in nbgrader."""
    results = []
    for check, report in zip(cell.checks[skip:], reports, strict=False):
        verdict = Verdict(report["verdict"])
        earned = check.points if verdict is Verdict.PASSED else 0.0
        reason, traceback, printed = (whole(report[name])[:LONGEST] for name in ("reason", "traceback", "printed"))
        if earned and len(cell.checks) == 1 and report["result"] is not None:
            from nbgrader import utils  # takes a second to load, and few tests end in a number

            try:
                earned = utils.get_partial_grade({"data": {"text/plain": report["result"]}}, check.points, logging)
            except ValueError as error:
                verdict, earned, reason = Verdict.UNGRADED, 0.0, str(error)
        results.append(
            CheckResult(
                check.title,
                check.points,
                verdict,
                earned,
                reason,
                traceback,
                printed,
                report["seconds"],
                report.get("raised_by", ""),
            )
        )
    return results


def whole(text: str) -> str:
    """A text without halves of characters."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def outputs_of(reply: dict, room: int = CHARACTERS) -> list[dict]:
    """The outputs of a cell, as far as a notebook can hold them: the reply comes from a stranger."""
    outputs, kept = reply.get("outputs"), []
    for item in map(_output, outputs[:ITEMS] if isinstance(outputs, list) else []):
        text = json.dumps(item, ensure_ascii=False)
        if (room := room - len(text)) < 0:
            return [*kept, {"output_type": "stream", "name": "stdout", "text": "[more output was dropped here]\n"}]
        if item:
            kept.append(json.loads(whole(text)))
    return kept


def count_of(reply: dict) -> int | None:
    """The number of a cell, as the notebook shows it."""
    count = reply.get("count")
    return count if type(count) is int and 0 <= count <= MOST_COUNT else None


def _output(item: object) -> dict:
    """An output with what belongs to its type and nothing else; empty when it is none."""
    match item:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": text}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            if all(isinstance(line, str) for line in lines):
                return {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data), "metadata": dict(about)}:
            if all(isinstance(text, str) for text in (*data, *data.values())):
                result = {"execution_count": count_of({"count": item.get("execution_count")})}
                shown = {"output_type": kind, "data": data, "metadata": about if _is_json(about) else {}}
                return shown | (result if kind == "execute_result" else {})
    return {}


def _is_json(value: object) -> bool:
    """Whether JSON can say it, and says the same again."""
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
