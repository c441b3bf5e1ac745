"""The report for the instructor: one page that needs no network and runs no script, with every table as CSV.

Its size is bounded, whatever the class: a list shows its first rows and says how many more there are, and where the
CSV files are too large to stand in the page they lie beside it, whole.
"""

from __future__ import annotations

import base64
import contextlib
import io
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from viva.cleaning import plaintext
from viva.course import table
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.folder import remove
from viva.pages.page import environment
from viva.pages.reporting import codefiles
from viva.pages.reporting.findings import ALONE, People, gather, lists
from viva.pages.reporting.pseudonyms import Pseudonyms, key_in, known_names
from viva.verdict import CourseError
from viva.wording import counted

with contextlib.chdir(Path(__file__).parent):  # matplotlib reads settings from the working folder, maybe a student's
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

LISTED = 200
"""The most rows of a list in the page; its CSV file has all."""
TOLD = 20
"""The most repairs of a notebook, or facts about it, that are shown."""
KEY = "pseudonyms.key"
OWN_KEY = secrets.token_bytes(32)
"""What pseudonyms are made with in a course that has no such file."""


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
        raise CourseError(f"'{server}' is not the address of a server. Write --server=http://localhost:8888.")
    folder = to or course.root / "report"
    folder.mkdir(parents=True, exist_ok=True)
    names = names_for(course, folder, anonymous)
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


def names_for(course: Course, folder: Path, anonymous: bool) -> Pseudonyms:
    """How students are called in what is written into a folder. Raises CourseError as ``_key``."""
    return Pseudonyms(_key(course, folder), *known_names(course)) if anonymous else Pseudonyms()


def write_code(
    course: Course, assignments: list[str], anonymous: bool = False, to: Path | None = None
) -> dict[Path, int]:
    """Write the answers to the assignments as files that Dolos and JPlag compare; the number of answers, by path."""
    folder = to or course.root / "report"
    folder.mkdir(parents=True, exist_ok=True)
    names = names_for(course, folder, anonymous)
    return {path: count for name in assignments for path, count in codefiles.write(course, name, names, folder).items()}


def _key(course: Course, folder: Path) -> bytes:
    """The key of the pseudonyms. It lies in the course, so that they stay the same, else beside the page.

    Raises CourseError for a key beside the page that is another user's.
    """
    report = course.root / "report"
    if not report.is_dir() and course.is_writable():
        report.mkdir()
    inside = (report / KEY).exists() or os.access(report, os.W_OK) or folder.resolve() == report.resolve()
    return key_in(report / KEY) if inside else key_in(folder / KEY, private=True)


def page(figures: dict, anonymous: bool = False, beside: str = "tables") -> tuple[str, Tables]:
    """The page, and its CSV files, which are to lie in a folder ``beside`` it where they are too large to stand in it.

    Every text in the page is escaped but for the plots, which hold none of a student's.
    """
    plots = {part["name"]: _plot(part, f"plot{number}") for number, part in enumerate(figures["assignments"])}
    rows = {part["name"]: dict(tables_of(part)) for part in figures["assignments"]}
    values = figures | {"plots": plots, "tables": rows, "overview": overview(figures), "anonymous": anonymous}
    tables = Tables()
    text = _rendered(values, tables)
    if tables.size > MOST_BYTES:
        tables = Tables(beside)
        text = _rendered(values, tables)
    return text, tables


def _rendered(values: dict, tables: Tables, template: str = "report.html") -> str:
    filters: dict[str, Callable] = {"csv": tables.address, "points": points, "ms": milliseconds}
    return environment(filters).get_template(template).render(**values, listed=LISTED, told=TOLD)


def live_page(course: Course, assignments: list[str], server: str, hidden: bool) -> str:
    """The page of ``findings.lists`` alone, as formgrader shows it; without names where they are ``hidden``."""
    names = Pseudonyms()
    if hidden:
        path = course.root / "report" / KEY
        names = Pseudonyms(key_in(path) if path.exists() else OWN_KEY, *known_names(course))
    parts = lists(course, assignments, server, names)
    values = {"assignments": parts, "hidden": hidden, "tables": {part["name"]: dict(lists_of(part)) for part in parts}}
    return _rendered(values, Tables(), "lists.html")


def _plot(part: dict, name: str):
    if not part["scores"]:
        return None
    label = (
        f"Distribution of {counted(len(part['scores']), 'score')} of {part['name']}: from {points(part['scores'][0])} "
        f"to {points(part['scores'][-1])} of {counted(part['maximum'], 'point')}, "
        f"the median is {points(part['median'])}."
    )
    return histogram(part["scores"], part["maximum"], part["median"], label, name)


def overview(figures: dict) -> list[dict]:
    """One row for each assignment."""
    keys = ("handed_in", "graded", "median", "mean", "maximum")
    return [
        {"assignment": part["name"]}
        | {key: part[key] for key in keys}
        | {status: len(part[status]) for status in ("late", "missing", "refused", "excused")}
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
    yield from lists_of(part)
    yield "repairs", _told(part["repairs"], "repairs", "repair")
    yield (
        "sentences",
        [
            {"student": one["student"]} | {key: row[key] for key in ("notebook", "cell", "text")}
            for row in part["added"]
            for one in row["students"]
        ],
    )
    yield "similar", [{"notebook": book["notebook"]} | pair for book in part["similar"] for pair in book["pairs"]]
    missing = [{"student": student, "what": "missing", "reason": ""} for student in part["missing"]]
    yield (
        "students",
        missing + [row | {"what": status} for status in ("late", "refused", "excused") for row in part[status]],
    )


def lists_of(part: dict) -> Iterator[tuple[str, list[dict]]]:
    """The rows of what waits and what is flagged."""
    yield "waiting", [{"why": reason["why"]} | row for reason in part["waiting"] for row in reason["rows"]]
    yield "integrity", _told(part["integrity"], "facts", "fact")


def _told(rows: list[dict], many: str, column: str) -> list[dict]:
    return [
        {"student": row["student"], "notebook": row["notebook"], column: sentence}
        for row in rows
        for sentence in row[many]
    ]


def points(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def milliseconds(seconds: float | None) -> str:
    """A time as people read it."""
    if seconds is None:
        return "unknown"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


# Plots as SVG to stand in a page: the same bytes for the same numbers, in the page's colours, light or dark.

INK, BAR, LINE = "#010203", "#040506", "#070809"
"""Stand for the page's colours while Matplotlib draws, which knows no CSS variables."""
COLOURS = {INK: "var(--ink)", BAR: "var(--bar)", LINE: "var(--wait)"}
SETTINGS = {
    **{"svg.fonttype": "none", "svg.hashsalt": "viva", "font.family": "sans-serif", "font.size": 9},
    **{f"{part}.{name}": INK for part in ("xtick", "ytick") for name in ("color", "labelcolor")},
    **{"axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK},
}
MOST_BARS = 25


def histogram(scores: list[float], maximum: float, median: float | None, label: str, name: str) -> Markup:
    """How many students have which score, the median marked; ``label`` is read out, ``name`` is unique in the page."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(4.6, 2.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.hist(scores, bins=list(edges(scores, maximum)), color=BAR, rwidth=0.86)
        if median is not None:
            axes.axvline(median, color=LINE, linewidth=1.5, linestyle="--")
        axes.set(xlabel="points", ylabel="students")
        axes.locator_params(axis="y", integer=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.patch.set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _in_page(buffer.getvalue(), label, name)


def edges(scores: list[float], maximum: float) -> np.ndarray:
    """The edges of the bars: whole numbers of points wide, from zero to the maximum, or to the highest score."""
    top = max([maximum, 1.0, *scores])
    width = max(1, int(np.ceil(top / MOST_BARS)))
    return np.arange(-0.5, top + width, width)


def _in_page(svg: str, label: str, name: str) -> Markup:
    """The svg element alone, as wide as its place, with ids of its own; all text in it is ours."""
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)  # its style would be the whole page's
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    head, rest = svg.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    return Markup(f'{head} role="img" aria-label="{Markup.escape(label)}">') + Markup(rest)


# The CSV files of a report: in the page itself where they are small, beside it in a large class.

MOST_BYTES = 1_000_000
"""Of CSV in a page. A browser reads so much in a moment; where there is more, all of it lies beside the page."""
LONGEST = 1000
"""Characters of a text in a cell."""


class Tables:
    """Gives each table of a page its address; ``write`` what does not stand in the page into ``folder``, if any."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self.texts: dict[str, bytes] = {}

    @property
    def size(self) -> int:
        """In bytes, of all that were asked for."""
        return sum(map(len, self.texts.values()))

    def address(self, rows: Iterable[dict], name: str) -> str:
        """The address of rows as a file called ``name``: in the page itself, or beside it."""
        self.texts[name] = data = csv_text(rows).encode("utf-8", "replace")
        if self.folder:
            return f"{quote(self.folder)}/{quote(name, safe='')}.csv"
        return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(data).decode()}"

    def write(self, beside: Path) -> None:
        """Write the files that the page names; others of an older page go."""
        folder = beside / self.folder
        folder.mkdir(exist_ok=True)
        for name, data in self.texts.items():
            leftovers.write(folder / f"{name}.csv", data.decode())
        for path in set(folder.glob("*.csv")) - {folder / f"{name}.csv" for name in self.texts}:
            path.unlink()


def csv_text(rows: Iterable[dict]) -> str:
    """Rows as CSV, each text in one line."""
    rows = list(rows)
    columns = list(rows[0]) if rows else ["nothing"]
    cells = (
        [plaintext.line(row[name], LONGEST) if isinstance(row[name], str) else row[name] for name in columns]
        for row in rows
    )
    return table.csv_text(columns, cells)
