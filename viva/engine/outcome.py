"""What a notebook came to: verdicts and points of its checks, outputs of its cells."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from viva.engine.blueprint import Cell
from viva.engine.checkreport import CheckReport
from viva.engine.credit import judged
from viva.record import CheckResult, Fault, Note
from viva.verdict import Verdict

ITEMS, CHARACTERS, LONGEST = 2000, 20_000_000, 20_000
"""So many outputs of a cell, so much in those of a notebook, and so much of a reason is kept of what is sent."""
MOST_COUNT = 10**6
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no file can hold."""


@dataclass
class Outcome:
    """What a notebook came to: results by grade cell, outputs by index of the notebook's cells, the grader's faults."""

    checks: dict[str, list[CheckResult]] = field(default_factory=dict)
    outputs: dict[int, tuple[list[dict], int | None]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    sandboxed: bool = True
    integrity: list[Note] = field(default_factory=list)
    """Facts about what the notebook did to its process; they cost nothing."""
    doubts: list[Note] = field(default_factory=list)
    """What a grader should look at where points were lost."""
    room: int = CHARACTERS
    """How much more its outputs may hold."""

    def keep(self, index: int, reply: dict) -> None:
        """Keep the outputs of a cell, unless it has been run before."""
        if index not in self.outputs:
            outputs = outputs_of(reply, self.room)
            self.room -= len(json.dumps(outputs))
            self.outputs[index] = outputs, count_of(reply)

    def earned(self, cell: str) -> float | None:
        """The points of a grade cell; None when the grader could not grade it."""
        results = self.checks.get(cell, [])
        if any(result.verdict is Verdict.UNGRADED for result in results):
            return None
        return sum(result.earned for result in results)


def score(cell: Cell, reports: list[CheckReport], skip: int = 0, credit: bool = False) -> list[CheckResult]:
    """Reports with their points; with ``credit`` the last value of the cell says how many of them are earned."""
    results = []
    for check, report in zip(cell.checks[skip:], reports, strict=False):
        verdict, cause = report.verdict, report.cause
        earned = check.points if verdict is Verdict.PASSED else 0.0
        if credit and earned and len(cell.checks) == 1:
            verdict, earned, cause = judged(report.result, check.points)
        texts = ("reason", "exception", "traceback", "printed")
        told: dict[str, Any] = {name: whole(getattr(report, name))[:LONGEST] for name in texts}
        told |= {"cause": cause, "seconds": report.seconds, "raised_by": report.raised_by}
        results.append(CheckResult(check.title, check.points, verdict, earned, **told))
    return results


def whole(text: str) -> str:
    """A text without halves of characters."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def outputs_of(reply: dict, room: int = CHARACTERS) -> list[dict]:
    """The outputs of a cell, as far as a notebook can hold them: the reply comes from a stranger."""
    outputs = reply.get("outputs")
    kept: list[dict] = []
    for item in map(_output, outputs[:ITEMS] if isinstance(outputs, list) else []):
        text = json.dumps(item, ensure_ascii=False)
        if (room := room - len(text)) < 0:
            return [*kept, {"output_type": "stream", "name": "stdout", "text": "[more output was cut here]\n"}]
        if item:
            kept.append(json.loads(whole(text)))
    return kept


def count_of(reply: dict) -> int | None:
    """The number of a cell, as the notebook shows it."""
    count = reply.get("count")
    return count if type(count) is int and 0 <= count <= MOST_COUNT else None


def _output(item: Any) -> dict:
    """An output with what belongs to its type and nothing else; empty when it is none."""
    output_type = item.get("output_type") if type(item) is dict else None
    # An array, compared with a text, is neither true nor false.
    match output_type if type(output_type) is str else None, item:
        case "stream", {"name": str(name), "text": str(text)} if name in ("stdout", "stderr"):
            return {"output_type": "stream", "name": name, "text": text}
        case "error", {"ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            if all(isinstance(line, str) for line in lines):
                return {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}
        case "display_data" | "execute_result", {"data": dict(data), "metadata": dict(about)}:
            if all(isinstance(text, str) for text in (*data, *data.values())):
                result = {"execution_count": count_of({"count": item.get("execution_count")})}
                shown = {"output_type": output_type, "data": data, "metadata": about if _is_json(about) else {}}
                return shown | (result if output_type == "execute_result" else {})
    return {}


def _is_json(value: object) -> bool:
    """Whether JSON can say it, and says the same again."""
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
