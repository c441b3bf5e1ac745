"""The editions of a released assignment: facts about each contract, and which submissions an older one graded.

``releasing/contract`` writes them into ``.contracts/ASSIGNMENT/`` beside the gradebook, and keeps the facts of every
edition. A record of ``results.jsonl`` names the edition by which it was graded. This module starts fast, without
nbgrader.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

NAME = ".contracts"
"""The folder of contracts, beside the gradebook."""
CURRENT, FACTS = "current", "contract.json"
NOTEBOOKS = "notebooks"
"""The folder of complete notebooks in an edition."""


class Facts(Struct, frozen=True):
    """A contract without its notebooks and files."""

    assignment: str
    edition: str
    """A hash of the contract."""
    released: str
    """When, in UTC."""
    gradebook: str
    """A hash of the cells in the gradebook that this was released with."""
    source: str
    """A hash of what it was compiled from."""
    points: dict[str, dict[str, float]] = field(default_factory=dict)
    """By notebook, the points of each graded cell."""
    leaves: dict[str, str] = field(default_factory=dict)
    """The files that students get beside the notebooks, by path, each with its SHA-256."""
    tests: dict[str, str] = field(default_factory=dict)
    """The files that only tests get, likewise."""
    imports: dict[str, str] = field(default_factory=dict)
    """The modules that notebooks and files need, and where the release found each."""
    limits: dict[str, float] = field(default_factory=dict)
    """The seconds of a cell, the megabytes and the seconds of a whole notebook."""
    apart: list[str] = field(default_factory=list)
    """The languages whose tests run in a second kernel, which a package brings."""
    ground: str = ""
    """A hash of what verdicts depend on; two editions with the same one give the same scores."""


def beside_gradebook(directory: CourseDirectory) -> Path:
    """The folder of results and contracts: where the gradebook lies if that is a file, otherwise the course folder."""
    book = directory.db_url.removeprefix("sqlite:///")
    return Path(directory.root) if book == directory.db_url else Path(directory.root, book).parent


def place_of(directory: CourseDirectory, assignment: str) -> Path:
    """The folder of an assignment's contracts."""
    return beside_gradebook(directory) / NAME / assignment


def folder_of(directory: CourseDirectory, assignment: str) -> Path:
    """The folder of the complete notebooks of an assignment; its source folder, where there is no contract yet."""
    place = place_of(directory, assignment)
    facts = current(place)
    if facts and (place / facts.edition / NOTEBOOKS).is_dir():
        return place / facts.edition / NOTEBOOKS
    return Path(directory.format_path(directory.source_directory, ".", assignment))


def current(place: Path) -> Facts | None:
    """The facts of the edition that counts, in the folder of an assignment's contracts; None without a whole one."""
    try:
        return _facts(place, (place / CURRENT).read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None


def older(place: Path, editions: Iterable[str]) -> int:
    """How many of these editions are older than the one that counts, and may give other scores.

    A record of an earlier Viva names no edition, and nothing is said of it.
    """
    newest = current(place)
    if newest is None:
        return 0
    grounds: dict[str, str] = {"": newest.ground, newest.edition: newest.ground}
    count = 0
    for edition in editions:
        if edition not in grounds:
            facts = _facts(place, edition)
            grounds[edition] = facts.ground if facts else ""
        count += grounds[edition] != newest.ground
    return count


def _facts(place: Path, edition: str) -> Facts | None:
    try:
        return msgspec.json.decode((place / edition / FACTS).read_bytes(), type=Facts)
    except (OSError, ValueError):
        return None
