"""The report for the instructor: one page that needs no network and runs no script, with every table as CSV.

Its size is bounded, whatever the class: a list shows its first rows and says how many more there are, and where the
CSV files are too large to stand in the page they lie beside it, whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from viva.course.course import Course
from viva.course.processes import leftovers
from viva.folder import remove
from viva.pages.page import environment
from viva.pages.reporting import plot
from viva.pages.reporting.findings import ALONE, People, gather
from viva.pages.reporting.pseudonyms import Pseudonyms, key_in, known_names
from viva.pages.reporting.tables import MOST_BYTES, Tables
from viva.verdict import CourseError
from viva.wording import counted

LISTED = 200
"""So many rows of a list are in the page; more are in its CSV file."""
TOLD = 20
"""So many repairs of a notebook, or facts about it."""
KEY = "pseudonyms.key"


def write(
    course: Course,
    assignments: list[str],
    server: str,
    anonymous: bool = False,
    people: People = ALONE,
    to: Path | None = None,
    future: Sequence[str] = (),
) -> tuple[Path, dict]:
    """Write the page of the assignments into the folder ``to``, by default report/ in the course.

    One line of it names the ``future`` assignments, which are not released yet.
    Returns its path and the figures in it. Raises CourseError for a bad address.
    """
    address = server.strip().rstrip("/")
    if not address.startswith(("http://", "https://")) or set(address) & set(" \"'<>"):
        raise CourseError(f"'{server}' is not the address of a server. Write it as --server=http://localhost:8888.")
    folder = to or course.root / "report"
    folder.mkdir(parents=True, exist_ok=True)
    names = Pseudonyms(key_in(_key(course, folder)), *known_names(course)) if anonymous else Pseudonyms()
    figures = gather(course, assignments, names, address, people) | {"unreleased": list(future)}
    path = folder / ("anonymous.html" if anonymous else "index.html")
    text, tables = page(figures, anonymous, f"{path.stem}-tables")
    if tables.folder:
        tables.write(folder)
    with leftovers.whole(path, errors="replace") as file:
        file.write(text)
    if not tables.folder:
        remove(folder / f"{path.stem}-tables")
    return path, figures


def _key(course: Course, folder: Path) -> Path:
    """Where the key of the pseudonyms lies: in the course, so that they stay the same, else beside the page."""
    own = course.root / "report"
    if own.is_dir() or not course.is_writable():
        return (own if (own / KEY).exists() or os.access(own, os.W_OK) else folder) / KEY
    own.mkdir()
    return own / KEY


def page(figures: dict, anonymous: bool = False, beside: str = "tables") -> tuple[str, Tables]:
    """The page, and its CSV files, which are to lie in a folder ``beside`` it where they are too large to stand in it.

    Every text in the page is escaped but for the plots, which hold none of a student's.
    """
    plots = {part["name"]: _plot(part, f"plot{place}") for place, part in enumerate(figures["assignments"])}
    rows = {part["name"]: dict(tables_of(part)) for part in figures["assignments"]}
    known = figures | {"plots": plots, "tables": rows, "overview": overview(figures), "anonymous": anonymous}
    tables = Tables()
    text = _rendered(known, tables)
    if tables.size > MOST_BYTES:
        tables = Tables(beside)
        text = _rendered(known, tables)
    return text, tables


def _rendered(known: dict, tables: Tables) -> str:
    filters: dict[str, Callable] = {"csv": tables.address, "points": points, "ms": milliseconds}
    return environment(filters).get_template("report.html").render(**known, listed=LISTED, told=TOLD)


def _plot(part: dict, name: str):
    if not part["scores"]:
        return None
    label = (
        f"Distribution of {counted(len(part['scores']), 'score')} of {part['name']}: from {points(part['scores'][0])} "
        f"to {points(part['scores'][-1])} of {counted(part['maximum'], 'point')}, "
        f"the median is {points(part['median'])}."
    )
    return plot.histogram(part["scores"], part["maximum"], part["median"], label, name)


def overview(figures: dict) -> list[dict]:
    """One row for each assignment."""
    keys = ("handed_in", "graded", "median", "mean", "maximum")
    return [
        {"assignment": part["name"]}
        | {key: part[key] for key in keys}
        | {what: len(part[what]) for what in ("late", "missing", "refused", "excused")}
        | {"seconds": part["speed"]["total"], "seconds_median": part["speed"]["median"]}
        for part in figures["assignments"]
    ]


def tables_of(part: dict) -> Iterator[tuple[str, list[dict]]]:
    """Every table and figure of an assignment, by name, as rows for a CSV file."""
    yield "scores", [{"score": score, "maximum": part["maximum"]} for score in part["scores"]]
    simple = "notebook cell title points taken passed partly rate discrimination undefined seconds slowest".split()
    yield (
        "checks",
        [{key: check[key] for key in simple} | {"marks": "; ".join(check["marks"])} for check in part["checks"]],
    )
    yield (
        "wrong-results",
        [
            {"notebook": check["notebook"], "cell": check["cell"], "title": check["title"]} | mistake
            for check in part["checks"]
            for mistake in check["mistakes"]
        ],
    )
    yield "waiting", [{"why": reason["why"]} | row for reason in part["waiting"] for row in reason["rows"]]
    for table, many, one in (("repairs", "repairs", "repair"), ("integrity", "facts", "fact")):
        yield (
            table,
            [
                {"student": row["student"], "notebook": row["notebook"], one: told}
                for row in part[table]
                for told in row[many]
            ],
        )
    yield "similar", [{"notebook": book["notebook"]} | pair for book in part["similar"] for pair in book["pairs"]]
    missing = [{"student": one, "what": "missing", "reason": ""} for one in part["missing"]]
    yield "students", missing + [row | {"what": what} for what in ("late", "refused", "excused") for row in part[what]]


def points(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def milliseconds(seconds: float | None) -> str:
    """A time as people read it."""
    if seconds is None:
        return "unknown"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
