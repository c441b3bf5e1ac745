"""The released code and words of a notebook, whatever a program did to their layout.

Theory of operation. Nothing of it is ever a student's work. Code is compared statement by statement, as syntax trees,
so that no formatter makes it another; where it is not whole, line by line. A student may type what a text shows, so
statements are counted: what stands in a submission more often than in the release is the student's. Words are
compared without white space and the marks of Markdown.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from nbformat import NotebookNode

from viva.folder import walk
from viva.notebook.statements import forms_of, magic_forms
from viva.submission.cells.texts import code_parts, squeezed
from viva.submission.files.handin import notebooks_in
from viva.submission.files.salvage import read
from viva.verdict import SubmissionError

SENTENCE = 20
"""Characters from which a text may stand anywhere in what was released; a shorter one is a line of it."""
_QUIET = re.compile(r"^[ \t]*[#%!?].*$", re.MULTILINE)
"""Comments, and what is IPython's."""
_LIST = re.compile(r"^[ \t]*(?:[-*+>#]+|\d+[.)])[ \t]+", re.MULTILINE)
_MARKS = str.maketrans("", "", "*_`~\\|")


@functools.lru_cache(maxsize=4096)
def trees(source: str) -> tuple[str, ...]:
    """The statements of code as texts that no layout changes; its lines where it is not whole."""
    if (forms := forms_of(source)) is not None:
        return forms
    return tuple(squeezed(line) for line in source.splitlines() if line.strip() and not _QUIET.match(line))


def quiet_lines(source: str) -> set[str]:
    """The comments and magics of code; magics also as the calls that programs write for them."""
    lines = {squeezed(line) for line in _QUIET.findall(source)}
    if "get_ipython" in source or any(line[:1] in "%!?" for line in lines):
        lines |= set(map(squeezed, magic_forms(source)))
    return lines


def is_as(source: str, stub: str) -> bool:
    """Whether code does what a stub does or nothing, and says nothing that the stub does not."""
    return trees(source) in ((), trees(stub)) and quiet_lines(source) <= quiet_lines(stub)


def plain(text: str) -> str:
    """A text without white space and the marks of Markdown."""
    return squeezed(_LIST.sub("", text)).translate(_MARKS)


class Handout:
    """The code and the words that students were given, in cells and in texts."""

    def __init__(self, cells: Iterable[tuple[str, str]], beside: Iterable[str] = ()) -> None:
        """The types and texts of the released cells, and the texts of files that were released beside them."""
        cells = list(cells)
        code = [text for cell_type, source in cells for text in code_parts(cell_type, source)]
        texts = [*(source for cell_type, source in cells if cell_type != "code"), *beside]
        self.statements = Counter(tree for source in code for tree in trees(source))
        self.quiet = set().union(*map(quiet_lines, code))
        self.lines = {plain(line) for source in (*texts, *code) for line in (source, *source.splitlines())}
        self.words = "".join(map(plain, texts))

    def has_text(self, text: str) -> bool:
        """Whether all of a text stands in what was released, paragraph by paragraph."""
        return self._has(plain(text)) or all(self._has(plain(part)) for part in re.split(r"\n\s*\n", text))

    def _has(self, text: str) -> bool:
        return text in self.lines or not text or (len(text) >= SENTENCE and text in self.words)

    def has_code(self, source: str) -> bool:
        """Whether all statements of some code were released."""
        statements = trees(source)
        return bool(statements) and all(tree in self.statements for tree in statements)

    def has_all(self, code: Iterable[str]) -> bool:
        """Whether some code is nothing but what was released, no statement of it more often."""
        code = list(code)
        counted = Counter(tree for source in code for tree in trees(source))
        return counted <= self.statements and set().union(*map(quiet_lines, code)) <= self.quiet


# The notebooks that an assignment released beside its own, in files and zips: none of them is a student's work.


class Shipped:
    """The files in an assignment's ``folder`` beside its ``notebooks`` (names without ending)."""

    def __init__(self, folder: Path, notebooks: Collection[str]) -> None:
        self.names = {os.path.relpath(path, folder) for path in walk(folder)}
        self.digests: set[bytes] = set()
        self.handouts: list[Handout] = []
        self.texts: list[str] = []
        notebook_digests = set()
        for handed in notebooks_in(folder):
            try:
                data = handed.read()
                if handed.name in {f"{name}.ipynb" for name in notebooks}:
                    notebook_digests.add(_digest(data))
                    continue
                self.digests.add(_digest(data))
                cells = read(data)[0].cells
            except SubmissionError:
                continue  # it is not a notebook
            self.handouts.append(Handout([(cell.cell_type, cell.source) for cell in cells]))
            self.texts += [cell.source for cell in cells if cell.cell_type != "code"]
        self.digests -= notebook_digests

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
