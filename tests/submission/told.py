"""What was read of a file, with what is said of its repairs."""

from __future__ import annotations

from nbformat import NotebookNode

from viva.submission.files import salvage
from viva.wording import sentences


def read(data: bytes) -> tuple[NotebookNode, list[str]]:
    notebook, repairs = salvage.read(data)
    return notebook, sentences(repairs)
