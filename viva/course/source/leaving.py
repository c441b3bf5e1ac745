"""What leaves the course with a release, beside the notebooks: nothing with a solution or a hidden test in it.

nbgrader copies every file beside the notebooks. Among them are what editors and other tools leave there: a notebook's
pair for jupytext, an export, a backup, a repository. None is shown to students that holds a marker of hidden text.

nbgrader also clears answers in which no marker stands. So a file with the whole text of an answer is refused, too.

A file that only tests read, such as expected results, lies beside the notebooks too, and is named by a setting.
"""

from __future__ import annotations

import contextlib
import gzip
import html
import io
import json
import lzma
import re
import tarfile
import zipfile
from bz2 import BZ2Decompressor
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from traitlets import List, Unicode
from traitlets.config import Config, Configurable

from viva.course.source.markers import markers
from viva.folder import walk
from viva.verdict import CourseError

REPOSITORIES = (".git", ".hg", ".svn", ".bzr", ".ipynb_checkpoints")
"""Folders that hold older versions of files."""
MOST_BYTES = 200 * 2**20
"""Bytes of a file, or of all that an archive holds, that are looked at."""
LEAST_ANSWER = 20
"""Characters of an answer, white space aside, below which another file may have the same by chance."""
MOST_TEXT = 5 * 2**20
"""Bytes of a file that are compared with answers; a larger one is data."""
TAG = re.compile(r"<[^<>]*>")
NOTEBOOK = (b'"cells"', b'"nbformat"')
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


class TestFiles(Configurable):
    """The files that only tests get."""

    names = List(
        Unicode(),
        help="Names of files next to notebooks that only hidden tests read, and that students never get, such as "
        "expected_*.csv.",
    ).tag(config=True)


def for_tests(config: Config | None) -> list[str]:
    """The patterns of the names of files that only tests get."""
    return list(TestFiles(config=config).names)


def require_present(source: Path, config: Config) -> None:
    """Raises CourseError for a name in ``c.TestFiles.names`` that no file of any assignment has: students could get
    the file that was meant."""
    files = {path.name for path in walk(source)}
    for name in for_tests(config):
        if not set(name) & set("*?[") and name not in files:
            raise CourseError(
                f"c.TestFiles.names in nbgrader_config.py names {name}, but no file in {source} has this name. Nothing "
                "was changed. Correct the name, or remove it. Write only the file's name, without a folder."
            )


def require_harmless(files: Mapping[str, Path], folder: Path, config: Config) -> None:
    """Raises CourseError for a file beside the notebooks of ``folder`` that students must not get, by its name."""
    for name, path in sorted(files.items()):
        if reason := _reason(name, path, config):
            raise CourseError(_refusal(folder / name, reason))


def require_without_answers(files: Mapping[str, Path], folder: Path, answers: Mapping[str, str]) -> None:
    """Raises CourseError for a file beside the notebooks of ``folder`` with the whole text of one of the ``answers``,
    by cell: a notebook's pair or export, in which no marker has to stand."""
    known = {cell: short for cell, text in answers.items() if len(short := _squeezed(text)) >= LEAST_ANSWER}
    for name, path in sorted(files.items()) if known else ():
        with contextlib.suppress(OSError):
            with path.open("rb") as file:
                text = file.read(MOST_TEXT).decode("utf-8", "replace")
            plain = [_squeezed(text), *([_squeezed(html.unescape(TAG.sub("", text)))] if "<" in text else [])]
            if cell := next((cell for cell, short in known.items() if any(short in one for one in plain)), ""):
                raise CourseError(_refusal(folder / name, f"it contains the answer of the cell '{cell}'"))


def _squeezed(text: str) -> str:
    """A text without white space and signs of comments, which a pair puts before the lines of a text."""
    return re.sub(r"[\s#>]+", "", text)


def _refusal(path: Path, reason: str) -> str:
    return (
        f"{path} would be released to students, but {reason}. Nothing was changed. Move the file out of the folder, or "
        "add its name to c.CourseDirectory.ignore in nbgrader_config.py."
    )


def _reason(name: str, path: Path, config: Config) -> str:
    if repository := next((part for part in PurePath(name).parts if part in REPOSITORIES), ""):
        return f"{repository} holds older versions of files"
    if name.endswith(".pyc"):
        return "it is a compiled module, which may contain a solution or tests"
    with contextlib.suppress(OSError):
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
        return _in_bytes(data, config)
    return ""


def _in_bytes(data: bytes, config: Config, level: int = 0) -> str:
    for marker in markers(config):
        if any(marker.encode(encoding) in data for encoding in ENCODINGS) or json.dumps(marker)[1:-1].encode() in data:
            return f"'{marker}' is in it"
    if all(sign in data for sign in NOTEBOOK) and data.lstrip().startswith(b"{"):
        return "it is a notebook that is not compiled"
    if level > 2:
        return "it is an archive in an archive, and Viva does not open these"
    room = MOST_BYTES
    try:
        for inner, content in _members(data):
            room -= len(content)
            if room < 0:
                return "it is an archive that is too large to open"
            if inner.lower().endswith(".ipynb"):
                return f"it is an archive with the notebook {inner}"
            if reason := _in_bytes(content, config, level + 1):
                return f"{reason} ({inner})" if level == 0 else reason
    except Exception:  # encrypted, damaged, or another kind than its first bytes say
        return "it is an archive that cannot be read"
    return ""


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files in an archive by name, as far as there is room; none in what is not an archive."""
    for head, opened in (
        (b"\x1f\x8b", lambda: gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_BYTES)),
        (b"BZh", lambda: BZ2Decompressor().decompress(data, MOST_BYTES)),
        (b"\xfd7zXZ", lambda: lzma.LZMADecompressor().decompress(data, MOST_BYTES)),
    ):
        if data.startswith(head):
            yield "its content", opened()
            return
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                yield "", b" " * (MOST_BYTES + 1)
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, archive.read(info)
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if (file := tar.extractfile(member)) is not None:
                    yield member.name, file.read(MOST_BYTES)
    elif data.startswith((b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\x28\xb5\x2f\xfd")):
        raise ValueError("it cannot be read")
