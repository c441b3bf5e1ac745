"""What a notebook came to: verdicts and points of its checks, outputs of its cells."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from viva.blueprint import Cell
from viva.verdict import Verdict


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
        reason = report["reason"]
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
                report["traceback"],
                report["printed"],
                report["seconds"],
                report.get("raised_by", ""),
            )
        )
    return results


def outputs_of(reply: dict) -> list[dict]:
    """The outputs of a cell, as far as they are outputs: the reply comes from a stranger."""
    outputs = reply.get("outputs")
    return [item for item in outputs if _is_output(item)] if isinstance(outputs, list) else []


def _is_output(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    match item.get("output_type"):
        case "stream":
            return (
                item.keys() == {"output_type", "name", "text"}
                and item["name"] in ("stdout", "stderr")
                and (isinstance(item["text"], str))
            )
        case "error":
            return (
                item.keys() == {"output_type", "ename", "evalue", "traceback"}
                and isinstance(item["ename"], str)
                and isinstance(item["evalue"], str)
                and isinstance(item["traceback"], list)
                and all(isinstance(line, str) for line in item["traceback"])
            )
        case "display_data" | "execute_result":
            data = item.get("data")
            return (
                isinstance(data, dict)
                and item.get("metadata") is not None
                and all(isinstance(key, str) and isinstance(value, str) for key, value in data.items())
            )
    return False
