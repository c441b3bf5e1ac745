"""Which tests take long: read from pytest's own reports, kept in bench/durations.json, by which tests are put in order.

.venv/bin/pytest -m '' --junitxml=report.xml
.venv/bin/python -m bench.durations report.xml
"""

from __future__ import annotations

import argparse
import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

FILE = Path(__file__).parent / "durations.json"
LEAST = 5.0
"""Seconds; shorter tests fill the gaps at the end."""


def durations(reports: list[Path]) -> dict[str, float]:
    """The seconds of each test with all its rows, where they are many, the longest first.

    A test is named as pytest names it. Raises OSError and ElementTree.ParseError for what is not a report.
    """
    seconds: Counter[str] = Counter()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            test = case.get("name", "").partition("[")[0].partition("@")[0]
            seconds[f"{case.get('classname', '').replace('.', '/')}.py::{test}"] += float(case.get("time", 0))
    return {test: round(spent, 1) for test, spent in seconds.most_common() if spent >= LEAST}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write down which tests take long.")
    parser.add_argument("reports", nargs="+", type=Path, help="reports that pytest wrote with --junitxml")
    found = durations(parser.parse_args().reports)
    FILE.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} tests take {LEAST:g} s or more, together {sum(found.values()) / 60:.0f} minutes.")


if __name__ == "__main__":
    main()
