"""The page of the report is bounded whatever the class, and what it leaves out stands in its CSV files."""

from __future__ import annotations

import csv
import re

import pytest

from viva.pages import report

BOOK = "scaled_attention"
WEEKS = 8


def crowded(size: int) -> dict:
    """The figures of a term in which all that can be happened to ``size`` students of each assignment."""
    people = [f"student-{number:05}" for number in range(size)]
    link = f"http://localhost:8888/formgrader/submissions/{'0' * 32}/?index=3"
    told = "a sentence of some length " * 10
    reasons = [{"student": one, "reason": told} for one in people]
    rows = [{"student": one, "notebook": BOOK, "detail": told, "link": link} for one in people]
    about = [{"student": one, "notebook": BOOK, "link": link} for one in people]
    pairs = [{"one": one, "other": "another", "shared": 30, "of": 40} for one in people]
    group = {"students": people[:50], "pairs": 40, "share": 0.8, "shared": 30, "one": "a", "other": "b", "evidence": []}
    part = {
        **{"maximum": 25.0, "students": size, "handed_in": size, "graded": size, "median": 12.0, "mean": 12.0},
        **{"scores": [float(number % 26) for number in range(size)], "missing": people, "checks": []},
        **dict.fromkeys(("late", "refused", "excused"), reasons),
        "waiting": [{"why": why, "help": "Help.", "rows": rows, "first": link} for why in ("killed", "manual grading")],
        "older": "",
        "repairs": [row | {"repairs": [told] * 3} for row in about],
        "integrity": [row | {"facts": [told]} for row in about],
        "added": [{"notebook": BOOK, "cell": "test", "text": told, "students": about}] * 3,
        "similar": [{"notebook": BOOK, "compared": size, "short": 0, "pairs": pairs, "groups": [group] * size}],
        "speed": {"submissions": size, "total": 1.0, "median": 1.0, "slowest": 1.0},
    }
    parts = [part | {"name": f"ps{week}"} for week in range(WEEKS)]
    return {"course": "viva", "until": "2026-09-14T12:00", "without_sandbox": 0, "assignments": parts}


@pytest.mark.slow
def test_a_page_about_thousands_is_bounded_and_its_files_beside_it_are_whole(tmp_path):
    small, _ = report.page(crowded(250), beside="index-tables")
    page, files = report.page(crowded(500), beside="index-tables")
    assert len(page) < WEEKS * 1_000_000
    assert page.count("<") < 1.01 * small.count("<")
    assert "and 300 more" in page
    files.write(tmp_path)
    links = set(re.findall(r'<a class="csv" download="[^"]*" href="([^"]*)"', page))
    assert links == {f"index-tables/{path.name}" for path in (tmp_path / "index-tables").iterdir()}
    with (tmp_path / "index-tables" / "ps7-waiting.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 500


def test_a_page_about_a_class_holds_its_files_and_all_rows():
    page, files = report.page(crowded(20))
    assert not files.folder
    assert "data:text/csv" in page
    assert "more, in the CSV file" not in page
