"""The files of a submission: which of them may be which notebook of the assignment, judged by their names.

Only regular files inside the submission's folder are looked at, and the members of a zip in it when the
folder itself has too few notebooks. Nothing is unpacked to disk, no link is followed, a zip in a zip is
not opened, and nothing larger than MOST_BYTES is read.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from dateutil.parser import parse

from viva.cleaning import legible
from viva.folder import MOST_FILES, walk
from viva.verdict import SubmissionError

if TYPE_CHECKING:
    from viva.course import Submission  # and with it nbgrader, which takes long to load

MOST_BYTES = 50 * 2**20
SHOWN = 5
"""So many names of files are listed in a sentence."""

_LITTER = {"__MACOSX", ".git", "__pycache__", "._*", ".DS_Store"}
"""Names of what nobody means to hand in."""
KEPT = ".ipynb_checkpoints"
"""What Jupyter saved by itself: it counts when nothing else holds answers."""
_NOTEBOOK = re.compile(
    r"[._]ipynb(?:[._~( -](?!(?:zip|tar|html?|pdf|py)\b)[^/]{0,15})?$|\.json$|\.txt$|(?<![^/])[^./]+$", re.IGNORECASE
)
"""Endings of notebooks, also after a download, a copy or a backup; some systems hide and lose them."""
_PACKED = b"\x1f\x8b"
_COPY = re.compile(r"\(\d+\)|\bcopy\d*\b|\bcopy of\b|\b(?:kopie|copie|copia)\b(?: (?:von|de))?", re.IGNORECASE)
_COPY_NUMBER = re.compile(r"\((\d+)\)|copy(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Handed:
    """A file that may be a notebook; ``member`` is its name inside the zip at ``path``."""

    path: Path
    name: str
    member: str = ""

    def read(self) -> bytes:
        """Raises SubmissionError when it cannot be read or is too large."""
        if self.member:
            with _archive(self.path) as archive:
                return _read_member(archive, archive.getinfo(self.member))
        data = read_file(self.path)
        return _unpacked(data) if data.startswith(_PACKED) else data

    @property
    def kept(self) -> bool:
        """Whether it is a copy that Jupyter made."""
        return KEPT in PurePosixPath(self.name).parts


@dataclass(frozen=True)
class Finding:
    """What was found in a submission: ``problem`` says why it cannot be graded, ``notes`` the rest.

    ``files`` are, for each notebook of the assignment, the files that may be it, the likeliest first.
    """

    problem: str = ""
    notes: tuple[str, ...] = ()
    files: dict[str, tuple[Handed, ...]] = field(default_factory=dict)


def find(submission: Submission, notebooks: set[str]) -> Finding:
    """Look for the assignment's ``notebooks`` (names without ending) in a submission."""
    if problem := place_problem(submission):
        return Finding(problem)
    files, others, notes = _files(submission.folder)
    if len([handed for handed in files if handed.name.lower().endswith(".ipynb")]) < len(notebooks):
        for archive in [name for name in others if name.lower().endswith(".zip")]:
            try:
                inside, more = _members(submission.folder / archive, archive)
                files += inside
                notes += more
            except SubmissionError as error:
                notes.append(f"{archive} {error}")
    exact = {f"{name}.ipynb" for name in notebooks}
    found = {}
    for name in sorted(notebooks):
        mine = [handed for handed in files if handed.name == f"{name}.ipynb" or handed.name not in exact]
        ranks = {handed: _rank(handed.name, name) for handed in mine}
        likely = sorted((handed for handed in mine if ranks[handed]), key=ranks.get)
        if likely:
            found[name] = tuple(likely)
    if not found:
        names = sorted([*others, *(handed.name for handed in files)])
        problem = f"no {' or '.join(sorted(exact))} was handed in (found: {shortened(names)})"
        return Finding("; ".join([problem, *notes]))
    notes += [f"{name}.ipynb was not handed in" for name in sorted(notebooks - found.keys())]
    return Finding("", tuple(notes), found)


def place_problem(submission: Submission) -> str:
    """Why a submission cannot be graded although its student did nothing wrong; empty when it can."""
    return name_problem(submission.student) or _timestamp_problem(submission.folder / "timestamp.txt")


def name_problem(student: str) -> str:
    """Why a student's id cannot be used; empty when it can.

    nbgrader's pages hold it as it is, terminals obey what is in it, and spreadsheets take some for formulas.
    """
    if student.isprintable() and not re.search(r'[<>"\\]|^[=+@-]', student):
        return ""
    return (
        f"a page, a terminal or a spreadsheet could take the folder's name '{legible.line(student)}' "
        'for more than a name; rename it without control characters and <>"\\, and let it not begin with =, +, - or @'
    )


def read_file(path: Path) -> bytes:
    """A regular file's bytes; raises SubmissionError when it is none, too large or not readable."""
    try:
        # Without waiting: what was a file a moment ago may be a pipe that nobody writes to.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "is a link, not a file" if path.is_symlink() else f"cannot be read ({error.strerror})"
        raise SubmissionError(reason) from error
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise SubmissionError("is not a regular file")
        return _limited(file, about.st_size)


def _limited(file: io.IOBase, size: int) -> bytes:
    data = file.read(MOST_BYTES + 1) if size <= MOST_BYTES else b""
    if size > MOST_BYTES or len(data) > MOST_BYTES:
        size = max(size, len(data)) / 2**20
        limit = f"at most {MOST_BYTES // 2**20} MB are read; clear its outputs and hand it in again"
        raise SubmissionError(f"has {size:.0f} MB, and {limit}")
    return data


def _unpacked(data: bytes) -> bytes:
    """What a gzip file holds; raises SubmissionError when that is too large."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            return _limited(file, 0)
    except (OSError, EOFError, zlib.error) as error:
        raise SubmissionError(f"cannot be unpacked ({legible.line(str(error))})") from error


def _files(folder: Path) -> tuple[list[Handed], list[str], list[str]]:
    """The files that may be notebooks, the names of all others, and what is worth a note."""
    likely, others, notes = [], [], []
    paths = list(itertools.islice(walk(folder, _LITTER), MOST_FILES))
    if len(paths) == MOST_FILES:
        notes.append(f"only {MOST_FILES} of its files were looked at")
    for path in paths:
        name = os.path.relpath(path, folder)
        if path.is_symlink():
            others.append(f"{legible.line(name)} (a link, not followed)")
        elif _NOTEBOOK.search(name) and path.is_file():
            likely.append(Handed(path, name))
        elif name != "timestamp.txt":
            others.append(name)
    return [handed for handed in likely if handed.name != "timestamp.txt"], others, notes


def _archive(path: Path) -> zipfile.ZipFile:
    data = read_file(path)
    # The number of members that a zip claims can be a lie; each has one of these marks.
    if data.count(b"PK\x01\x02") > MOST_FILES:
        raise SubmissionError(f"is a zip with more than {MOST_FILES} files and was not opened")
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, OverflowError) as error:
        raise SubmissionError(f"is a damaged zip ({legible.line(str(error))})") from error


def _members(path: Path, name: str) -> tuple[list[Handed], list[str]]:
    likely, others, notes = [], [], []
    with _archive(path) as archive:
        for info in archive.infolist():
            place = PurePosixPath(info.filename.replace("\\", "/"))
            if info.is_dir() or _LITTER & set(place.parts) or place.name.startswith("._"):
                continue
            if "ipynb" in place.name.lower() and _NOTEBOOK.search(place.name):
                likely.append(Handed(path, f"{name}/{place}", info.filename))
            else:
                others.append(str(place))
    if any(other.lower().endswith(".zip") for other in others):
        notes.append(f"{name} holds another zip, which was not opened")
    if not likely:
        notes.append(f"{name} holds no notebook but {shortened(sorted(others))}")
    return likely, notes


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise SubmissionError("is locked with a password")
    try:
        with archive.open(info) as file:
            return _limited(file, info.file_size)
    except SubmissionError:
        raise
    except Exception as error:  # zlib, lzma and bz2 each raise their own
        raise SubmissionError(f"cannot be unpacked ({legible.line(str(error))})") from error


@functools.cache
def _plain(name: str) -> str:
    """A name without what downloads and file systems do to it."""
    name = _COPY.sub(" ", unicodedata.normalize("NFKC", name).casefold().replace("_", " ").replace("-", " "))
    return "".join(character for character in name if character.isalnum())


def _rank(name: str, wanted: str) -> tuple | None:
    """How likely a file of this name is the notebook ``wanted``: the lower the likelier, None for not at all."""
    base, depth = PurePosixPath(name).name, name.count("/")
    stem = _NOTEBOOK.sub("", base) or base
    # Of several downloads, the one with the highest number is the latest.
    number = max((int(one or two) for one, two in _COPY_NUMBER.findall(stem)[:3] if len(one or two) < 6), default=0)
    if name == f"{wanted}.ipynb":
        kind = 0
    elif base.casefold() == f"{wanted}.ipynb".casefold():
        kind = 1
    elif _plain(stem) == _plain(wanted):
        kind = 2
    elif "ipynb" not in base.lower():
        return None
    else:
        kind = 3 if _plain(wanted) in _plain(stem) else 4
    return KEPT in PurePosixPath(name).parts, kind, depth, -number, name


def _timestamp_problem(path: Path) -> str:
    if not os.path.lexists(path):
        return ""
    try:
        text = read_file(path).decode("utf-8", errors="replace").strip()
    except SubmissionError as error:
        return f"timestamp.txt {error}"
    try:
        if text:
            parse(text)
    except Exception:  # dateutil raises what it likes
        return f"timestamp.txt does not hold a date but '{legible.line(text[:40])}'; correct or delete {path}"
    return ""


def shortened(names: list[str]) -> str:
    if not names:
        return "nothing"
    more = len(names) - SHOWN
    return ", ".join(map(legible.line, names[:SHOWN])) + (f" and {more} more" if more > 0 else "")
