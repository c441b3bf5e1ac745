"""The notebooks that an assignment handed out beside its own, in files and zips: none of them is a student's work."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

from nbformat import NotebookNode

from viva.folder import walk
from viva.submission.cells.handout import Handout
from viva.submission.cells.texts import code_parts
from viva.submission.files.handin import notebooks_in
from viva.submission.files.salvage import read
from viva.verdict import SubmissionError


class Shipped:
    """What lies in an assignment's ``folder`` beside its ``notebooks`` (names without ending)."""

    def __init__(self, folder: Path, notebooks: Collection[str]) -> None:
        self.names = {os.path.relpath(path, folder) for path in walk(folder)}
        self.digests: set[bytes] = set()
        self.handouts: list[Handout] = []
        self.texts: list[str] = []
        own = set()
        for handed in notebooks_in(folder):
            try:
                data = handed.read()
                if handed.name in {f"{name}.ipynb" for name in notebooks}:
                    own.add(_digest(data))
                    continue
                self.digests.add(_digest(data))
                cells = read(data)[0].cells
            except SubmissionError:
                continue  # it is no notebook
            self.handouts.append(Handout([(cell.cell_type, cell.source) for cell in cells]))
            self.texts += [cell.source for cell in cells if cell.cell_type != "code"]
        self.digests -= own

    def has_file(self, data: bytes) -> bool:
        """Whether a file is one of them, byte by byte."""
        return _digest(data) in self.digests

    def has_notebook(self, notebook: NotebookNode) -> bool:
        """Whether a notebook holds nothing but what one of them does, as after a program saved it again."""
        code = [text for cell in notebook.cells for text in code_parts(cell.cell_type, cell.source)]
        texts = [cell.source for cell in notebook.cells if cell.cell_type != "code"]
        return any(handout.has_all(code) and all(map(handout.has_text, texts)) for handout in self.handouts)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
