"""Hashes that tell the next batch which submissions have not changed since they were graded."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import stat
from pathlib import Path

from nbformat import NotebookNode

from viva.course.gradebook.recording import Expected
from viva.engine.blueprint import read_notebook
from viva.folder import MOST_FILES, walk
from viva.notebook.cell import grade_id, marks_of
from viva.notebook.programming import language_of
from viva.submission.files.contents import KEPT, MOST_BYTES, read_file
from viva.verdict import BlueprintError, SubmissionError


def ground(notebooks: Path, files: Path, release: Path, settings: str, expected: Expected) -> bytes:
    """A hash of everything beside the submission that its verdicts depend on.

    Tests, points and locked cells are the gradebook's, so those in the complete ``notebooks`` are left out: only
    their answers and unlocked code count. Of ``release`` the cells count, against which submissions are repaired.
    """
    digest = hashlib.sha256(settings.encode())
    for name in sorted(expected.notebooks):
        digest.update(repr(rows_in_order(vars(expected.notebooks[name]))).encode())
        replaced = {*expected.locked(name), *expected.tests(name)}
        digest.update(_notebook(notebooks / f"{name}.ipynb", replaced))
        digest.update(_notebook(release / f"{name}.ipynb", set(), answers=False))
    _hash_folder(files, digest)
    _hash_folder(release, digest, ignored=(KEPT, "*.ipynb"))
    return digest.digest()


def rows_in_order(book: dict) -> list:
    """The gradebook's rows of a notebook, sorted: nbgrader asks for them in no order, and a server's may change."""
    tables = {name: sorted(map(repr, value)) if isinstance(value, list) else value for name, value in book.items()}
    return sorted(tables.items())


def _notebook(path: Path, replaced: set[str], answers: bool = True) -> bytes:
    """A hash of the parts of a notebook that count. The bytes count of any other file, so it is read again."""
    if not path.is_file():
        return b"none"
    try:
        notebook = read_notebook(path)
    except BlueprintError:
        return hashlib.sha256(path.read_bytes()).digest()
    cells = [_cell(cell, replaced, answers) for cell in notebook.cells]
    content = [notebook.metadata.get("viva", {}) if answers else {}, language_of(notebook.metadata), cells]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=repr).encode("utf-8", "surrogatepass")).digest()


def _cell(cell: NotebookNode, replaced: set[str], answers: bool) -> list:
    """The kind, name, settings and text of a cell; in the source no text that nobody grades by."""
    metadata = {name: value for name, value in marks_of(cell).items() if name not in ("points", "checksum")}
    text = "" if grade_id(cell) in replaced or (answers and cell.cell_type != "code") else cell.source
    return [cell.cell_type, grade_id(cell) or cell.get("id"), metadata, cell.metadata.get("viva", {}), text]


def key(ground: bytes, folder: Path, seed: str = "") -> str:
    """A hash of the ground, the submitted files and, in an assignment with variants, the seed."""
    digest = hashlib.sha256(ground)
    _hash_folder(folder, digest, MOST_FILES, ignored=())
    digest.update(seed.encode())
    return digest.hexdigest()[:32]


def _hash_folder(folder: Path, digest, most: int | None = None, ignored: tuple[str, ...] = (KEPT,)) -> None:
    for path in sorted(itertools.islice(walk(folder, ignored), most)):
        with contextlib.suppress(OSError, SubmissionError):  # nobody can read it
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                large = status.st_size > MOST_BYTES
                content = f"changed at {status.st_mtime_ns}".encode() if large else read_file(path)
                digest.update(f"{path.relative_to(folder)} {len(content)} ".encode("utf-8", "surrogateescape"))
                digest.update(content)
