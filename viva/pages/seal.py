"""The last line of a page: of what it was made, and what it says, so that one that would come out the same is left.

It stands below the page and not beside it, so that whoever writes the page (`viva feedback`, nbgrader's command, the
button in formgrader) writes it too, and so that a page that was cut off or edited has none.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Set
from dataclasses import fields
from pathlib import Path

from msgspec import structs

import viva
from viva.pages.page import Marks
from viva.record import NotebookRecord, SubmissionRecord

MADE_BY = (
    "verdict.py",
    "record.py",
    "wording.py",
    "words.toml",
    "course/gradebook/classbook.py",
    "course/gradebook/lateness.py",
    "engine/checks.py",
    "engine/names.py",
    "engine/undone.py",
    "pages/*.py",
    "pages/templates/feedback.*",
    "pages/templates/messages.txt",
    "cleaning/*.py",
)
"""What of this package has a say in how a page looks."""
SEAL = re.compile(rb"\n<!-- ([0-9a-f]{32}) ([0-9a-f]{32}) -->\n?\Z")


def key_of(folder: Path, source: Path, marks: Marks, record: SubmissionRecord, notebook: str, settings: object) -> str:
    """A hash of everything that the page of a notebook depends on.

    ``folder`` holds the graded notebook with its files, ``source`` the instructor's; ``record`` is the submission's
    line of results.jsonl, of which the times do not count.
    """
    digest = hashlib.sha256(f"{viva.ENGINE} {_maker()} {notebook} {settings!r}".encode())
    for field in fields(marks):
        value = getattr(marks, field.name)
        value = value.items() if isinstance(value, dict) else value
        digest.update(repr(sorted(value) if isinstance(value, Set) else value).encode())
    known = record.notebooks.get(notebook, NotebookRecord())
    results = [
        (cell, [structs.replace(result, seconds=0.0) for result in found]) for cell, found in known.checks.items()
    ]
    told = results, known.repairs, known.sanitized, record.sandboxed, len(record.faults)
    digest.update(repr(told).encode("utf-8", "backslashreplace"))
    _add(digest, folder, sorted(path for path in folder.rglob("*") if path.is_file()))
    _add(digest, source, sorted(source.glob("*.ipynb")))
    return digest.hexdigest()[:32]


@functools.cache
def _maker() -> str:
    root, digest = Path(viva.__file__).parent, hashlib.sha256()
    _add(digest, root, [path for pattern in MADE_BY for path in sorted(root.glob(pattern))])
    return digest.hexdigest()


def _add(digest: hashlib._Hash, root: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root)} {len(data)} ".encode("utf-8", "surrogateescape"))
        digest.update(data)


def sealed(page: str, key: str) -> str:
    """A page with its seal."""
    page = page.rstrip("\n")
    return f"{page}\n<!-- {key} {_digest(page.encode())} -->\n"


def key_on(path: Path) -> str:
    """The key that a page was sealed with; empty where it is not as it was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return ""
    found = SEAL.search(data)
    return found[1].decode() if found and _digest(data[: found.start()]) == found[2].decode() else ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
