"""results.json as Gradescope reads it, by its documentation, and by no code of ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
KEYS = {"score", "execution_time", "output", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"}
OF_A_TEST = {"score", "max_score", "status", "name", "number", "output", "tags", "visibility", "extra_data"}


@dataclass
class Read:
    """What a teacher and a student see: no score is a failure of the autograder."""

    score: float | None
    tests: list[dict]
    document: dict

    def test(self, name: str) -> dict:
        (found,) = [one for one in self.tests if one["name"].endswith(name)]
        return found


def read(place: Path) -> Read:
    document = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))
    assert document.keys() <= KEYS
    assert isinstance(document.get("output", ""), str)
    for where in ("visibility", "stdout_visibility"):
        assert document.get(where, "visible") in VISIBILITIES
    tests = document.get("tests", [])
    for test in tests:
        assert test.keys() <= OF_A_TEST
        assert test.get("visibility", "visible") in VISIBILITIES
        assert test.get("status", "failed") in {"passed", "failed"}
        assert all(isinstance(test.get(name, ""), str) for name in ("name", "number", "output"))
        assert all(type(test.get(name, 0.0)) in (int, float) for name in ("score", "max_score"))
    given = [test["score"] for test in tests if "score" in test]
    score = document.get("score", sum(given) if tests and len(given) == len(tests) else None)
    assert score is None or type(score) in (int, float)
    return Read(score, tests, document)
