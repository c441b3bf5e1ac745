"""The hidden lines of an assignment, and where a finished page holds one.

Theory of operation. What students may read of an instructor's cell is what nbgrader's own steps leave of it.
Every other line is hidden: of tests, of a marking scheme, of a solution. A page is reduced to its text, the
insides of its tags and the text of its vector pictures; references are resolved and white space and invisible
characters dropped, on both sides. So neither highlighting nor entities nor wrapping keep a line from being found.
A line that is too short to tell, or that a student wrote too, is not looked for.
"""

from __future__ import annotations

import base64
import binascii
import html
import io
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions
from traitlets.config import Config

from viva.notebook.assertions import messages
from viva.notebook.programming import is_python
from viva.pages.typeset import prose

SHORTEST = 12
"""Characters, white space aside, from which a line of code can be told from others."""
SHORTEST_PROSE = 24
"""The same for what stands between the marks and formulas of a marking scheme."""
TESTS, SCHEME, SOLUTION = "hidden test", "marking scheme", "solution"

_INVISIBLE = re.compile(
    r"""
    (?: \s
    | [\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e]      # soft hyphen, joiner, marks and fillers of single scripts
    | [\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]          # no width, or a turn of direction
    )+
    """,
    re.VERBOSE,
)
_RASTER = re.compile(
    r"""
    data: (?: image/ (?: png | jpeg | gif | webp ) | audio/[\w.+-]+ )
    ;base64, [A-Za-z0-9+/=\s]*      # no text stands in this
    """,
    re.VERBOSE,
)
_VECTOR = re.compile(r"data:[^\"',;]*;base64,([A-Za-z0-9+/=\s]*)")
_TAG = re.compile(r"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_MARKS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|[*`_#|\[\]()]+|^\s*(?:[-+>]|\d+\.)\s", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:[eE][-+]?\d+)?")


def squeezed(text: str) -> str:
    """A text without white space and invisible characters, and with one form of each letter."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


class Veil:
    """nbgrader's own steps that take out what students may not read; each instructor's text is read once."""

    def __init__(self, config: Config | None = None, scheme: bool = False) -> None:
        """``scheme`` says that students read marking schemes."""
        self.solutions = ClearSolutions(config=config, enforce_metadata=False)
        self.tests = ClearHiddenTests(config=config, enforce_metadata=False)
        self.schemes = [] if scheme else [ClearMarkScheme(config=config, enforce_metadata=False)]
        self.known: dict[tuple, str] = {}

    def shown(self, cell: NotebookNode) -> str:
        """What students may read of an instructor's cell; nothing where a marker lacks its fellow."""
        key = (cell.cell_type, cell.source, utils.is_solution(cell))
        if key not in self.known:
            cleared = NotebookNode(cell_type=cell.cell_type, source=cell.source, metadata=cell.metadata, outputs=[])
            try:
                for step in [self.solutions] if utils.is_solution(cell) else [self.tests, *self.schemes]:
                    step.preprocess_cell(cleared, {"language": "python"}, 0)
            except RuntimeError:
                cleared.source = ""
            self.known[key] = cleared.source
        return self.known[key]


@dataclass
class Hidden:
    """Hidden lines by their squeezed text, each with what it is of and how it reads; what is too short to tell."""

    lines: dict[str, tuple[str, str]] = field(default_factory=dict)
    untold: dict[str, str] = field(default_factory=dict)
    literals: frozenset[str] = frozenset()

    def found(self, page: str, students: Iterable[str]) -> list[str]:
        """The hidden lines that a page holds, but for those in ``students``, the texts that its student wrote."""
        text, tags = texts(page)
        wrote = "\0".join(map(squeezed, students))
        return [
            f"a line of a {kind}: {line}"
            for squeezed_line, (kind, line) in self.lines.items()
            if (squeezed_line in text or squeezed_line in tags) and squeezed_line not in wrote
        ]

    def told(self, text: str) -> bool:
        """Whether a text names a literal that stands in hidden lines only."""
        words = set(re.findall(r"\w+(?:\.\w+)*", text))
        return any(literal in words if literal[0].isdigit() else literal in text for literal in self.literals)

    def remembered(self, text: str, students: str) -> bool:
        """Whether what code printed names a literal of hidden lines that is not in ``students``, the student's texts.

        Short whole numbers do not count: everybody prints some.
        """
        striking = (
            literal for literal in self.literals if not re.fullmatch(r"\d{1,4}", literal) and literal not in students
        )
        return Hidden(literals=frozenset(striking)).told(text)


def hidden_of(notebooks: Iterable[NotebookNode], veil: Veil) -> Hidden:
    """The hidden lines of an assignment's instructor notebooks."""
    notebooks = list(notebooks)
    cells = [(cell, veil.shown(cell)) for notebook in notebooks for cell in notebook.cells]
    public = "\n".join(text for _, text in cells)
    # A formula may read like a line of code when it is typeset: A = softmax(S).
    typeset = [texts(prose(text))[0] for cell, text in cells if cell.cell_type == "markdown"]
    every = "\0".join([squeezed(public), *typeset])
    result, secret, spoken = Hidden(), [], []
    for cell, text in cells:
        open_lines = set(map(squeezed, text.splitlines()))
        closed = [line for line in cell.source.splitlines() if squeezed(line) not in open_lines]
        closed = [line for line in closed if not re.match(r"\W*(?:BEGIN|END) [A-Z ]+$", line)]
        kind = SOLUTION if utils.is_solution(cell) else TESTS if cell.cell_type == "code" else SCHEME
        if kind == TESTS:
            secret += closed
            spoken += [message.code for message in messages(cell.source)]
        for piece in _pieces(cell, closed, kind):
            line = squeezed(piece)
            least = SHORTEST if cell.cell_type == "code" else SHORTEST_PROSE
            if not line:
                continue
            if len(line) < least or not re.search(r"[^\W\d_]{2}|(\d\D*){12}", line):
                result.untold[line] = f"'{piece.strip()}' is too short"
            elif line in every:
                result.untold[line] = f"'{piece.strip()}' is also in the students' files"
            else:
                result.lines[line] = (kind, piece.strip())
    heard = "\n".join([public, *spoken])
    literals = _literals("\n".join(secret))
    if not all(is_python(notebook.metadata) for notebook in notebooks):
        literals |= _seeming_literals("\n".join(secret))
    result.literals = frozenset(literal for literal in literals if literal.strip() not in heard)
    return result


def _pieces(cell: NotebookNode, closed: list[str], kind: str) -> Iterator[str]:
    """The lines to look for: of code, but for sentences that a check says; of prose, what stands between marks."""
    if cell.cell_type != "code":
        yield from _MARKS.sub("\n", "\n".join(closed)).split("\n")
        return
    sentences = _said(cell.source) if kind == TESTS else ()
    for line in closed:
        if squeezed(line).strip("(),") not in sentences:
            yield line


def _said(source: str) -> set[str]:
    """The lines of a test cell that hold nothing but part of a message, which students do read."""
    source = source.lstrip()  # IPython does not count empty lines at the head
    lines, lines_said = source.splitlines(), set()
    for message in messages(source):
        for number in message.lines:
            line = lines[number - 1]
            before = line.encode()[: message.before].decode() if number == message.lines[0] else ""
            after = line.encode()[message.behind :].decode() if number == message.lines[-1] else ""
            if not before.strip(" (") and not after.strip(" ),"):
                lines_said.add(squeezed(line).strip("(),"))
    return lines_said


def _literals(source: str) -> set[str]:
    """Numbers of three digits or more and strings of three characters or more; of any text, cut off or not."""
    literals = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NUMBER and len(re.sub(r"\D", "", token.string)) >= 3:
                literals.add(token.string)
            elif token.type == tokenize.STRING:
                text = token.string.lstrip("rbfuRBFU").strip("\"'")
                literals |= {text} if len(text.strip()) >= 3 else set()
    except (tokenize.TokenError, SyntaxError, IndentationError):
        literals |= _seeming_literals(source)
    return literals


def _seeming_literals(source: str) -> set[str]:
    """The same of a text that nobody can read as code."""
    numbers = {number for number in _NUMBER.findall(source) if len(re.sub(r"\D", "", number)) >= 3}
    return numbers | {text for _, text in re.findall(r"(['\"])(.{3,}?)\1", source)}


def texts(page: str) -> tuple[str, str]:
    """The text of an HTML page, and all that stands inside its tags, squeezed."""
    vectors = []
    page = _RASTER.sub("", page)
    for data in _VECTOR.findall(page):
        try:
            vectors.append(base64.b64decode(data).decode(errors="replace"))
        except (binascii.Error, ValueError):
            continue
    page = "\0".join([page, *vectors])
    return squeezed(html.unescape(_TAG.sub("", page))), squeezed(html.unescape("\0".join(_TAG.findall(page))))
