"""One file that was handed in, in the submission's folder or in a zip there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from viva.submission.files.contents import PACKED, first_bytes, opened_zip, read_file, read_member, unpacked
from viva.verdict import SubmissionError

KEPT = ".ipynb_checkpoints"
"""What Jupyter saved by itself: it counts when nothing else holds answers."""


@dataclass(frozen=True)
class Handed:
    """A file that may be a notebook; ``member`` is its name inside the zip at ``path``."""

    path: Path
    name: str
    member: str = ""

    def read(self) -> bytes:
        """Raises SubmissionError when it cannot be read or is too large."""
        data = self._bytes()
        return unpacked(data) if data.startswith(PACKED) else data

    def head(self, size: int) -> bytes:
        """The first bytes; nothing of what cannot be read."""
        if not self.member:
            return first_bytes(self.path, size)
        try:
            return self._bytes()[:size]
        except SubmissionError:
            return b""

    def _bytes(self) -> bytes:
        if not self.member:
            return read_file(self.path)
        with opened_zip(self.path) as archive:
            return read_member(archive, archive.getinfo(self.member))

    @property
    def kept(self) -> bool:
        """Whether it is a copy that Jupyter made."""
        return KEPT in PurePosixPath(self.name).parts
