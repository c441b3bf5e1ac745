"""The report for the instructor: one page that needs no network and runs no script, with every table as CSV in it."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.pages.reporting import plot
from viva.pages.reporting.findings import gather
from viva.pages.reporting.pseudonyms import Pseudonyms, key_in, known_names
from viva.verdict import CourseError


def write(course: Course, assignments: list[str], server: str, anonymous: bool = False) -> tuple[Path, dict]:
    """Write the page of the assignments; its path, and the figures in it. Raises CourseError for a bad address."""
    address = server.strip().rstrip("/")
    if not address.startswith(("http://", "https://")) or set(address) & set(" \"'<>"):
        raise CourseError(f"'{server}' is not the address of a server. Write it as --server=http://localhost:8888.")
    folder = course.root / "report"
    folder.mkdir(parents=True, exist_ok=True)
    names = Pseudonyms(key_in(folder / "pseudonyms.key"), *known_names(course)) if anonymous else Pseudonyms()
    figures = gather(course, assignments, names, address)
    path = folder / ("anonymous.html" if anonymous else "index.html")
    with leftovers.whole(path, errors="replace") as file:
        file.write(page(figures, anonymous))
    return path, figures


def page(figures: dict, anonymous: bool = False) -> str:
    """The page; every text in it is escaped but for the plots, which hold none of a student's."""
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=PackageLoader("viva.pages"),
    )
    environment.filters |= {"csv": download, "points": points, "ms": milliseconds}
    plots = {part["name"]: _plot(part, f"plot{place}") for place, part in enumerate(figures["assignments"])}
    tables = {part["name"]: dict(tables_of(part)) for part in figures["assignments"]}
    template = environment.get_template("report.html")
    return template.render(**figures, plots=plots, tables=tables, overview=overview(figures), anonymous=anonymous)


def _plot(part: dict, name: str):
    if not part["scores"]:
        return None
    label = (
        f"Distribution of {len(part['scores'])} scores of {part['name']}: from {points(part['scores'][0])} "
        f"to {points(part['scores'][-1])} of {points(part['maximum'])} points, the median is {points(part['median'])}."
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
    simple = "notebook cell title points taken passed rate discrimination undefined seconds slowest".split()
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
    yield "waiting", [{"why": kind["why"]} | row for kind in part["waiting"] for row in kind["rows"]]
    yield (
        "repairs",
        [
            {"student": row["student"], "notebook": row["notebook"], "repair": repair}
            for row in part["repairs"]
            for repair in row["repairs"]
        ],
    )
    yield (
        "integrity",
        [
            {"student": row["student"], "notebook": row["notebook"], "fact": fact}
            for row in part["integrity"]
            for fact in row["facts"]
        ],
    )
    yield "similar", [{"notebook": book["notebook"]} | pair for book in part["similar"] for pair in book["pairs"]]
    missing = [{"student": one, "what": "missing", "reason": ""} for one in part["missing"]]
    yield "students", missing + [row | {"what": what} for what in ("late", "refused", "excused") for row in part[what]]


def csv_text(rows: Iterable[dict]) -> str:
    """Rows as CSV, in which no text is a formula to a spreadsheet."""
    rows, file = list(rows), io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else ["nothing"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: plaintext.cell(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows
    )
    return file.getvalue()


def download(rows: Iterable[dict]) -> str:
    """The address of a CSV file that lies in the page itself."""
    data = base64.b64encode(csv_text(rows).encode("utf-8", "replace")).decode()
    return f"data:text/csv;charset=utf-8;base64,{data}"


def points(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def milliseconds(seconds: float | None) -> str:
    """A time as people read it."""
    if seconds is None:
        return "unknown"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
