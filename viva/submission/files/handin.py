"""The files of a submission: which of them may be which notebook of the assignment, judged by their names.

Where no name tells, the first bytes do. Only regular files inside the submission's folder are looked at, and the
members of the zips in it. Nothing is unpacked to disk, no link is followed, a zip in a zip and archives of other
formats are not opened, and nothing larger than MOST_BYTES is read.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Self

from viva import wording
from viva.cleaning import plaintext
from viva.folder import MOST_FILES, walk
from viva.record import Note, note
from viva.submission.files import claim, timestamp
from viva.submission.files.contents import (
    KEPT,
    ZIP,
    Handed,
    first_bytes,
    first_of_member,
    opened_zip,
)
from viva.submission.submission import Submission
from viva.verdict import SubmissionError

SHOWN = 5
"""The most names of files in a sentence."""

_LITTER = {"__MACOSX", ".git", "__pycache__", "._*", ".DS_Store"}
"""Names of what nobody means to submit."""
_NOTEBOOK = re.compile(
    r"""
    [._]ipynb (?: [._~(\ -] (?!(?:zip|tar|html?|pdf|py)\b) [^/]{0,15} )? $
    | \.json$ | \.txt$
    | (?<![^/]) [^./]+ $      # no ending at all
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Endings of notebooks, also after a download, a copy or a backup; some systems hide and lose them."""
_OTHER_ARCHIVE = re.compile(r"\.(?:tar|tgz|tbz2?|txz|7z|rar)$|\.tar\.\w+$", re.IGNORECASE)
MOST_ZIPS = 10
"""The most zips that are opened."""
HEAD = 2**16
"""Bytes of a file that tell whether it is a notebook under another name."""
_COPY = re.compile(
    r"""
    \(\d+\)                                            # a browser's second download
    | \b copy\d* \b | \b copy[ ]of \b
    | \b (?: kopie | copie | copia ) \b (?: [ ](?:von|de) )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COPY_NUMBER = re.compile(r"\((\d+)\)|copy(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """What was found in a submission: ``reasons`` say why it cannot be graded, ``notes`` the rest.

    ``files`` are, for each notebook of the assignment, the files that may be it, the likeliest first; ``beside`` are
    those that nobody looks for a notebook in.
    """

    reasons: tuple[Note, ...] = ()
    notes: tuple[str, ...] = ()
    files: dict[str, tuple[Handed, ...]] = field(default_factory=dict)
    beside: tuple[Handed, ...] = ()
    facts: tuple[Note, ...] = ()
    """Notes for a grader about its time."""

    @property
    def problem(self) -> str:
        """The reasons as a sentence."""
        return wording.joined(self.reasons)


def find(submission: Submission, notebooks: set[str]) -> Finding:
    """Look for the assignment's ``notebooks`` (names without ending) in a submission."""
    if problem := place_problem(submission):
        return Finding((Note("other_problem", names=(problem,)),))
    files, names_left, zips, notes = _files(submission.folder)
    inside, remarks = _zipped(submission.folder, zips)
    if len([handed for handed in files if handed.name.lower().endswith(".ipynb")]) < len(notebooks):
        notes += remarks  # else nobody misses what a zip might have held
    files += inside
    candidates = _likely(files, notebooks)
    assigned = {handed for files in candidates.values() for handed in files}
    opened = {handed.path for handed in inside}
    rest = [Handed(submission.folder / name, name) for name in names_left if type(name) is not _Odd]
    rest = [handed for handed in rest if handed.path not in opened]
    rest += [handed for handed in files if handed not in assigned]
    if missing := notebooks - candidates.keys():
        unnamed = tuple(handed for handed in rest if _begins_as_notebook(handed.head(HEAD)))
        candidates |= dict.fromkeys(missing, unnamed) if unnamed else {}
    if not candidates:
        names = sorted({*names_left, *zips, *(handed.name for handed in files)}) or _litter(submission.folder)
        if any(map(_OTHER_ARCHIVE.search, names)):
            notes.append(Note("zip_only"))
        wanted = tuple(f"{name}.ipynb" for name in sorted(notebooks))
        return Finding((_files_note("none_submitted", names, wanted), *notes))
    sentences = [*map(wording.sentence, notes), *_missing(notebooks - candidates.keys())]
    return Finding((), tuple(sentences), candidates, tuple(rest), tuple(claim.facts(submission.folder)))


def _missing(notebooks: Iterable[str]) -> list[str]:
    return [f"{name}.ipynb was not submitted" for name in sorted(notebooks)]


def _likely(files: list[Handed], notebooks: set[str]) -> dict[str, tuple[Handed, ...]]:
    """By notebook, the files with a fitting name, the likeliest first."""
    exact = {f"{name}.ipynb" for name in notebooks}
    candidates = {}
    for name in sorted(notebooks):
        named = [handed for handed in files if handed.name == f"{name}.ipynb" or handed.name not in exact]
        ranks = {handed: _rank(handed.name, name) for handed in named}
        if likely := [handed for handed in named if ranks[handed]]:
            candidates[name] = tuple(sorted(likely, key=lambda handed: ranks[handed] or ()))
    return candidates


def place_problem(submission: Submission) -> str:
    """Why a submission cannot be graded although its student did nothing wrong; empty when it can."""
    return name_problem(submission.student) or _timestamp_problem(submission)


def name_problem(student: str) -> str:
    """Why a student's id cannot be used; empty when it can.

    nbgrader's pages hold it as it is, terminals obey what is in it, and spreadsheets take some for formulas.
    """
    begins = unicodedata.normalize("NFKC", student[:1])
    if student.isprintable() and begins not in plaintext.SIGNS and not re.search(r'[<>"\\]', student):
        return ""
    return (
        f"the folder name {plaintext.quoted(student)} is not safe in pages, terminals and spreadsheets; rename the "
        'folder: no control characters, no <>"\\, and no =, +, - or @ at the start'
    )


def _litter(folder: Path) -> list[str]:
    """The names of what nobody means to submit, where that is all there is."""
    return [os.path.relpath(path, folder) for path in itertools.islice(walk(folder), SHOWN)]


def _begins_as_notebook(head: bytes) -> bool:
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{") and b'"cell_type"' in head


def notebooks_in(folder: Path) -> list[Handed]:
    """All files in a folder, and in the zips in it, that may be notebooks, whatever they are called."""
    files, names_left, zips, _ = _files(folder)
    rest = [Handed(folder / name, name) for name in names_left if name not in zips]
    return [*files, *(handed for handed in rest if _begins_as_notebook(handed.head(HEAD))), *_zipped(folder, zips)[0]]


def _files(folder: Path) -> tuple[list[Handed], list[str], list[str], list[Note]]:
    """The files that may be notebooks, the names of all others, those of zips, and what is worth a note."""
    likely: list[Handed] = []
    names_left: list[str] = []
    notes: list[Note] = []
    paths = list(itertools.islice(walk(folder, _LITTER), MOST_FILES))
    if len(paths) == MOST_FILES:
        notes.append(note("files_limit", str(MOST_FILES)))
    for path in paths:
        name = os.path.relpath(path, folder)
        if path.is_symlink():
            names_left.append(_Odd(name, LINK))
        elif not path.is_file():
            names_left.append(_Odd(name, IRREGULAR))
        elif _NOTEBOOK.search(name):
            likely.append(Handed(path, name))
        elif name not in (timestamp.NAME, claim.NAME):
            names_left.append(name)
    zips = [name for name in names_left if name.lower().endswith(".zip")]
    zips += [handed.name for handed in likely if first_bytes(handed.path, len(ZIP)) == ZIP]
    files = [handed for handed in likely if handed.name != timestamp.NAME and handed.name not in zips]
    return files, names_left, zips, notes


def _zipped(folder: Path, zips: list[str]) -> tuple[list[Handed], list[Note]]:
    """The members of zips that may be notebooks, and a note for each zip that has none or cannot be read."""
    files, notes = [], []
    for name in zips[:MOST_ZIPS]:
        try:
            inside, remarks = _members(folder / name, plaintext.line(name))
        except SubmissionError as error:
            inside, remarks = [], [of_file(name, error)]
        files += inside
        notes += remarks
    if len(zips) > MOST_ZIPS:
        notes.append(note("zips_limit", str(MOST_ZIPS), str(len(zips))))
    return files, notes


def _members(path: Path, name: str) -> tuple[list[Handed], list[Note]]:
    likely: list[Handed] = []
    names_left: list[str] = []
    notes: list[Note] = []
    with opened_zip(path) as archive:
        for info in archive.infolist():
            inner = PurePosixPath(info.filename.replace("\\", "/"))
            if info.is_dir() or _LITTER & set(inner.parts) or inner.name.startswith("._"):
                continue
            if stat.S_ISLNK(info.external_attr >> 16):
                names_left.append(_Odd(inner, LINK))
            elif _NOTEBOOK.search(inner.name) and (
                "ipynb" in inner.name.lower() or _begins_as_notebook(first_of_member(archive, info, HEAD))
            ):
                likely.append(Handed(path, f"{name}/{inner}", info.filename))
            else:
                names_left.append(str(inner))
    if any(member.lower().endswith(".zip") for member in names_left):
        notes.append(note("zip_in_zip", name))
    if not likely and names_left:
        inside = _files_note("zip_members", sorted(names_left), ())
        notes.append(note("zip_without_notebook", name, because=inside))
    elif not likely:
        notes.append(note("zip_of_nothing", name))
    return likely, notes


@functools.cache
def _plain(name: str) -> str:
    """A name without what downloads and file systems do to it."""
    name = _COPY.sub(" ", unicodedata.normalize("NFKC", name).casefold().replace("_", " ").replace("-", " "))
    return "".join(character for character in name if character.isalnum())


def _rank(name: str, wanted: str) -> tuple | None:
    """How likely a file of this name is the notebook ``wanted``: the lower the likelier, None for not at all."""
    base, depth = PurePosixPath(name).name, name.count("/")
    stem = _NOTEBOOK.sub("", base) or base
    # The download with the highest number is the latest.
    numbers = [first or second for first, second in _COPY_NUMBER.findall(stem)[:3]]
    number = max((int(digits) for digits in numbers if len(digits) < 6), default=0)
    if name == f"{wanted}.ipynb":
        distance = 0
    elif base.casefold() == f"{wanted}.ipynb".casefold():
        distance = 1
    elif _plain(stem) == _plain(wanted):
        distance = 2
    elif "ipynb" not in base.lower():
        return None
    else:
        distance = 3 if _plain(wanted) in _plain(stem) else 4
    return KEPT in PurePosixPath(name).parts, distance, depth, -number, name


def _timestamp_problem(submission: Submission) -> str:
    try:
        timestamp.of(submission)
    except SubmissionError as error:
        return str(error)
    return ""


LINK, IRREGULAR = 1, 2


class _Odd(str):
    """The name of what is not read, because it is a link or no regular file."""

    kind: int

    def __new__(cls, name: object, kind: int) -> Self:
        odd = super().__new__(cls, name)
        odd.kind = kind
        return odd


def _files_note(kind: str, names: list[str], notebooks: tuple[str, ...]) -> Note:
    """A note that names files, and which of them are none."""
    numbers = tuple(name.kind if type(name) is _Odd else 0 for name in names)
    return note(kind, *names, cells=notebooks, numbers=numbers if any(numbers) else ())


def of_file(name: str, error: SubmissionError) -> Note:
    """Why a file could not be read."""
    return note("of_file", name, because=reason_of(error))


def reason_of(error: SubmissionError) -> Note:
    """What an error says, as a note."""
    return error.note or Note("other_problem", names=(str(error),))


def shortened(names: list[str]) -> str:
    """The first names in quotes, since a student may have called a file by a sentence, and how many there are more."""
    return plaintext.some([plaintext.quoted(name) for name in names], wording.FILES) if names else "nothing"
