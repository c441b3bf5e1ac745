"""Known answers: right and wrong solutions whose verdicts are known beforehand.

The folder is the expected verdict, the file name is the way or the mistake:

    answers/<assignment>/right/<way>.py       must earn every automatic point
    answers/<assignment>/wrong/<mistake>.py   must lose exactly the checks its docstring names

A known answer is a Python file in the percent format. Its docstring says what it does; in
``wrong/`` two lists follow, of lines ``<grade cell>: <check title>``, where ``*`` stands for every
check of the cell and ``everything`` (``everything else``) for every check (not named elsewhere):

    \"\"\"The softmax runs along each row instead of down each column.

    Loses:
        test_softmax_cols: each column sums to one
        test_self_attention: *
    Keeps:
        everything else
    \"\"\"

    # %% softmax_cols
    def softmax_cols(data_in):
        ...

    # %% [markdown] why_answer
    # A written answer, line by line behind '# '.

    # %% [solution] *

A wrong answer that only hidden lines notice surprises its student. A line such as ``hidden: an attack``
in the docstring says why no visible check warns of it. A line ``students: ...`` is for `viva diagnose`.

Each section replaces the cell of that id in the released notebook. ``[solution]`` takes the
instructor's answer; ``*`` then means every answer cell that has no section. Cells that no
section names stay as released.

In another language the file is called as files of that language are, as ``way.R``. What a docstring
would say is the comment above the first section; ``#`` is whatever begins a comment there.
"""

from __future__ import annotations

import copy
import fnmatch
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from viva.engine.blueprint import Blueprint
from viva.folder import read_utf8
from viva.notebook.cell import Purpose, name_of
from viva.notebook.programming import PYTHON
from viva.notebook.statements import runs
from viva.notebook.syntax import complaint_about, docstring_of, statements_of
from viva.verdict import AnswerError
from viva_audit.checkname import CheckName, names_of_checks

SECTION = re.compile(r"^(?P<comment>\S{1,3}) %%(?: \[(?P<type>markdown|solution)\])? (?P<id>\S+) *$", re.MULTILINE)
ABOVE = "{path}: the first line of code must be '{comment} %% grade_id'. There is other code above it."
REST = {"everything", "everything else"}
"""The lines that stand for every check, or every other."""
REASON = re.compile(r"^ *hidden: *(?P<reason>\S.*?) *$", re.MULTILINE)
"""The line that says why no visible check warns of a wrong answer."""


@dataclass(frozen=True)
class Section:
    """The text for one cell; ``type`` is ``code``, ``markdown`` or ``solution``."""

    type: str
    source: str


@dataclass(frozen=True)
class Answer:
    """One known answer to an assignment."""

    path: Path
    summary: str
    right: bool
    loses: tuple[str, ...]
    keeps: tuple[str, ...]
    sections: Mapping[str, Section]
    hidden: str = ""
    """Why no visible check warns of this answer, if it says so."""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def case(self) -> str:
        return "right" if self.right else "wrong"

    def answers(self, cells: Iterable[str]) -> bool:
        """Whether it has a text of its own for one of these cells."""
        return any(name in self.sections and self.sections[name].type != "solution" for name in cells)

    def lost_checks(self, blueprint: Blueprint) -> set[CheckName]:
        """The checks this answer is said to lose; a right one loses none.

        Raises AnswerError when a line names no check of the blueprint, or when some check is
        named on both sides or on neither.
        """
        every = names_of_checks(blueprint)
        lost, keeping = self._matched(self.loses, every), self._matched(self.keeps, every)
        rest = set(every) - lost - keeping
        if not REST.isdisjoint(self.loses):
            lost |= rest
        elif not REST.isdisjoint(self.keeps):
            keeping |= rest
        if both := lost & keeping:
            raise AnswerError(
                f"{self.path}: the docstring has '{min(both, key=str)}' twice: under 'Loses:' and under 'Keeps:'. "
                "Remove one of them."
            )
        if neither := set(every) - lost - keeping:
            which = min(neither, key=str)
            raise AnswerError(
                f"{self.path}: the docstring does not name '{which}'. Add it under 'Loses:' or under 'Keeps:'."
            )
        return lost

    def _matched(self, lines: tuple[str, ...], every: list[CheckName]) -> set[CheckName]:
        matched: set[CheckName] = set()
        for line in lines:
            if line in REST or line == "nothing":
                continue
            named = CheckName.read(line)
            matching = {name for name in every if name.cell == named.cell and named.title in ("*", name.title)}
            if not matching:
                raise AnswerError(
                    f"{self.path}: this assignment has no check '{line}'. Write the new name of the check, or "
                    "delete the file if you do not need this answer."
                )
            matched |= matching
        return matched


def read_answer(path: Path) -> Answer:
    """The known answer in the file at ``path``, right or wrong by the folder it lies in.

    Raises AnswerError when the file has no docstring, has a syntax error, has text before its first
    section or names a section twice, and CourseError when it is not UTF-8.
    """
    text = read_utf8(path)
    python = path.suffix == ".py"
    first = SECTION.search(text)
    comment = first["comment"] if first and not python else "#"
    docstring, what = (_docstring(text, path), "docstring") if python else (_head(text, path, comment), "comment")
    if not docstring:
        raise AnswerError(f"{path}: the file needs a {what} that describes this answer.")
    right = path.parent.name == "right"
    reason = REASON.search(docstring)
    summary, loses, keeps = _promises(REASON.sub("", docstring))
    if right and (loses or keeps):
        raise AnswerError(
            f"{path}: a right answer keeps every check. Remove the lists 'Loses:' and 'Keeps:' from its docstring."
        )
    if right and reason:
        raise AnswerError(f"{path}: a right answer needs no line 'hidden:'. Remove it from the docstring.")
    if not right and not loses:
        raise AnswerError(f"{path}: a wrong answer needs a list 'Loses:' in its docstring.")
    hidden = reason["reason"] if reason else ""
    return Answer(path, summary, right, loses, keeps or ("everything else",), _sections(text, path, comment), hidden)


def read_answers(folder: Path, language: str = PYTHON) -> list[Answer]:
    """The known answers of an assignment in files of a language, right before wrong, each in order of name."""
    paths = [path for verdict in ("right", "wrong") for path in sorted((folder / verdict).glob("*"))]
    return [read_answer(path) for path in paths if _is_of(path, language)]


def _is_of(path: Path, language: str) -> bool:
    """Whether a file is called as those of a language are; where nobody knows how, whether it is not one of Python."""
    if language == PYTHON or path.suffix == ".py":
        return path.suffix == ".py" and language == PYTHON
    try:
        names = get_lexer_by_name(language.lower()).filenames
    except ClassNotFound:
        names = ["*.*"]
    return not path.name.startswith(".") and any(fnmatch.fnmatch(path.name.lower(), name.lower()) for name in names)


def _docstring(text: str, path: Path) -> str:
    message, line, _ = ("", 0, "") if runs(text) else complaint_about(text)
    if message:
        raise AnswerError(f"{path}, line {line}: syntax error ({message}).")
    if len(statements_of(text[: _first(text)])) > 1:
        raise AnswerError(ABOVE.format(path=path, comment="#"))
    return docstring_of(text)


def _head(text: str, path: Path, comment: str) -> str:
    """The comment above the first section."""
    lines = text[: _first(text)].splitlines()
    if any(line.strip() and not line.startswith(comment) for line in lines):
        raise AnswerError(ABOVE.format(path=path, comment=comment))
    return "\n".join(line.removeprefix(comment).removeprefix(" ") for line in lines).strip("\n")


def _first(text: str) -> int:
    match = SECTION.search(text)
    return match.start() if match else len(text)


def _promises(docstring: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    summary: list[str] = []
    lists: dict[str, list[str]] = {"Loses:": [], "Keeps:": []}
    target = summary
    for line in docstring.splitlines():
        word = line.strip()
        if word in lists:
            target = lists[word]
        elif word or target is summary:
            target.append(word)
    return "\n".join(summary).strip(), tuple(lists["Loses:"]), tuple(lists["Keeps:"])


def _sections(text: str, path: Path, comment: str) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    mark = re.escape(comment)
    _, *rest = re.split(rf"^(?={mark} %%)", text, flags=re.MULTILINE)
    for block in rest:
        title, _, body = block.partition("\n")
        match = SECTION.match(title)
        if not match:
            raise AnswerError(f"{path}: '{title}' does not start a section. Write '{comment} %% grade_id'.")
        name, section_type = match["id"], match["type"] or "code"
        if name in sections:
            raise AnswerError(f"{path}: there are two sections for '{name}'.")
        if section_type == "markdown":
            body = "\n".join(re.sub(rf"^{mark} ?", "", line) for line in body.splitlines())
        sections[name] = Section(section_type, body.strip("\n"))
    return sections


def fill_in(answer: Answer, release: NotebookNode, blueprint: Blueprint) -> NotebookNode:
    """The submission that a student with this answer would send: ``release``, filled in.

    Raises AnswerError when a section names no cell that a student can change.
    """
    submission = copy.deepcopy(release)
    cells = {name_of(cell): cell for cell in submission.cells}
    solutions = blueprint.solutions()
    open_cells = {cell.id for cell in blueprint.cells if cell.purpose in (Purpose.ANSWER, Purpose.MANUAL, Purpose.TEXT)}
    for name, section in answer.sections.items():
        if name == "*" and section.type == "solution":
            for rest in solutions.keys() - answer.sections.keys():
                cells[rest].source = solutions[rest]
        elif name not in open_cells or name not in cells:
            raise AnswerError(f"{answer.path}: the assignment has no answer cell '{name}'.")
        elif section.type == "solution":
            cells[name].source = solutions[name]
        else:
            cells[name].source = section.source
    return submission
