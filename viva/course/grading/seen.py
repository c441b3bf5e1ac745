"""What became of each submission that `viva grade` looked at, beside the gradebook: for who asks quickly.

``submissions.json`` says of each submission whether it was graded, refused or failed, and has a hash of its files as
they were then. It names no student: the key is a hash, too. A submission whose files have another hash waits. Times of
files say nothing: a copy, an archive and a checkout change them. This module starts fast, without nbgrader.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from viva.folder import MOST_FILES, walk

NAME = "submissions.json"
LARGE = 5 * 2**20
"""Bytes of a file beyond which its size and time stand for its content."""


def digest_of(folder: Path) -> str:
    """A hash of a submission's files, by name and content."""
    digest = hashlib.sha256()
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


def read(folder: Path) -> dict[str, tuple[str, str]]:
    """By key of a submission, the status and the hash; nothing where the file is missing or damaged."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return {str(key): (str(entry["status"]), str(entry["files"])) for key, entry in content.items()}
    except (OSError, ValueError, AttributeError, TypeError, KeyError):
        return {}


def text_of(entries: Mapping[str, tuple[str, str]]) -> str:
    """The file's text."""
    content = {key: {"status": status, "files": files} for key, (status, files) in sorted(entries.items())}
    return json.dumps(content, indent=0) + "\n"
