"""Which tests take long: read from pytest's own reports and kept in bench/durations.json.

By these seconds tests are put in order, and the long ones take turns in CI (tests/conftest.py).

.venv/bin/pytest -m '' --junitxml=report.xml
.venv/bin/python -m bench.durations report.xml
"""

from __future__ import annotations

import argparse
import json
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from statistics import fmean

FILE = Path(__file__).parent / "durations.json"
LEAST = 0.5
"""Seconds; what a shorter row takes does not matter."""


def durations(reports: list[Path]) -> dict[str, float]:
    """The seconds that a row of each test takes, on the average of those that ran.

    A test is named as pytest names it. Raises OSError and ElementTree.ParseError for what is not a report.
    """
    rows: defaultdict[str, list[float]] = defaultdict(list)
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            test = case.get("name", "").partition("[")[0].partition("@")[0]
            rows[f"{case.get('classname', '').replace('.', '/')}.py::{test}"].append(float(case.get("time", 0)))
    return {test: round(fmean(seconds), 1) for test, seconds in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write down which tests take long. The others keep what they have.")
    parser.add_argument("reports", nargs="+", type=Path, help="reports that pytest wrote with --junitxml")
    measured = json.loads(FILE.read_text(encoding="utf-8")) | durations(parser.parse_args().reports)
    kept = {test: seconds for test, seconds in sorted(measured.items()) if seconds >= LEAST}
    FILE.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")
    print(f"A row of {len(kept)} tests takes {LEAST:g} s or more.")


if __name__ == "__main__":
    main()
