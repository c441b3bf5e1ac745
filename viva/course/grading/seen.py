"""What became of each submission that `viva grade` looked at, beside the gradebook: for who asks quickly.

``submissions.json`` says of each submission whether it was graded, refused or failed, and has a hash of its files as
they were then; and what its feedback page was made of. It names no student: the key is a hash, too. A submission whose
files have another hash waits. Times of files say nothing: a copy, an archive and a checkout change them. This module
starts fast, without nbgrader.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from viva import ENGINE
from viva.course.processes import leftovers
from viva.folder import MOST_FILES, walk

NAME = "submissions.json"
LARGE = 5 * 2**20
"""Bytes of a file beyond which its size and time stand for its content."""


@dataclass(frozen=True)
class Looked:
    """What became of a submission."""

    status: str = ""
    files: str = ""
    """``digest_of`` its folder."""
    page: str = ""
    """``page_of`` what its feedback page shows; empty before the page was written."""


def digest_of(folder: Path) -> str:
    """A hash of a submission's files, by name and content, and of the engine: another one grades it again."""
    digest = hashlib.sha256(f"{ENGINE} ".encode())
    for path in sorted(islice(walk(folder), MOST_FILES)):
        with contextlib.suppress(OSError):
            status = path.lstat()
            digest.update(os.fsencode(path.relative_to(folder)) + b"\0")
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGE:
                digest.update(f"{status.st_mode} {status.st_size} {status.st_mtime_ns}".encode())
            else:
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def key_of(assignment: str, student: str) -> str:
    """What a submission is called in the file."""
    return hashlib.sha256(f"{assignment}/{student}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def page_of(graded: str, marks: Iterable[tuple]) -> str:
    """A hash of what a page shows: when its submission was ``graded``, and the points and comments that people gave."""
    return hashlib.sha256(repr([graded, *sorted(map(repr, marks))]).encode()).hexdigest()[:32]


def read(folder: Path) -> dict[str, Looked]:
    """By key of a submission, what became of it; nothing where the file is missing or damaged."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return {
            str(key): Looked(str(entry["status"]), str(entry["files"]), str(entry.get("page", "")))
            for key, entry in content.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, KeyError):
        return {}


def note(folder: Path, graded: Mapping[str, Looked]) -> None:
    """Write down what became of submissions; their pages are still those that were written."""
    known = read(folder)
    _write(folder, known | {key: replace(new, page=known.get(key, new).page) for key, new in graded.items()})


def note_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write down what the pages of submissions show."""
    known = read(folder)
    _write(folder, known | {key: replace(known[key], page=page) for key, page in pages.items() if key in known})


def _write(folder: Path, entries: Mapping[str, Looked]) -> None:
    content = {
        key: {"status": entry.status, "files": entry.files} | ({"page": entry.page} if entry.page else {})
        for key, entry in sorted(entries.items())
    }
    with contextlib.suppress(OSError):  # it is a hint
        leftovers.write(folder / NAME, json.dumps(content, indent=0) + "\n")
