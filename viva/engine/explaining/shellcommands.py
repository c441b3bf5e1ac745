"""Commands for the shell in a student's code, which are not run in grading, and the checks that this may have cost.

Such a line does not stop its cell: `!pip install` stands in many notebooks and has no consequence here. But what a
command was to give is empty or not there, and the answer may be right where it was written. So the text is read: which
statements hold a command, which names follow from it, also by way of a file, and which lost checks use these. A grader
looks at them, and at every check that is lost of an answer with a command in it, wherever it stands there: what a
command does is not to be seen in a text. A line such as `!ls` that only shows something counts where the answer has
nothing else. Functions that raise an exception where they are refused (`subprocess`, `os.popen`) are commands too:
code may have caught it.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from viva.engine.explaining.place import Place, Question
from viva.engine.explaining.refused import Refused
from viva.notebook.names import changed_in, names_in, names_in_text
from viva.notebook.syntax import CAPTURED, LONGEST, imports_in, nodes_of, statements_of
from viva.record import Note, note
from viva.verdict import Verdict

LOST = (Verdict.FAILED, Verdict.ERROR, Verdict.PARTLY)
REASON = 200
"""Characters of a reason that are repeated."""
SCRIPTS = frozenset(["!", "sx", "sc", "system", "script", "sh", "bash", "perl", "ruby", "pypy"])
SCRIPTS |= {"python", "python2", "python3"}
"""Magics whose text another program runs."""
INSTALLING = re.compile(
    r"""
    \s* (?:sudo\s+)? (?: (?: (?<!\S)\S{0,99}python[\d.]* | \{sys\.executable\} ) \s+ -m \s+ )? (?:uv\s+)?
    (?: pip[\d.]* | conda | mamba | micromamba | apt | apt-get | brew )
    (?: \s+ -\S+ )* \s+ (?: install | uninstall | update | upgrade | list | show | freeze ) \b [^;&|]* | \s*
    """,
    re.VERBOSE,
)
SHOWING = re.compile(
    r"""
    \A \s* (?: ls | cat | head | tail | wc | pwd | echo | date | which | whoami | uname | grep | find | du | df | tree
              | file | clear | lscpu | free | nvidia-smi | (?:python|pip|conda)[\d.]* \s+ -{0,2} (?:V|version) )
    \b [^>;&|]*
    """,
    re.VERBOSE,
)
"""A command that only shows something leaves no file."""
STARTING = re.compile(
    r"os\.(?:system|popen|spawn\w+|posix_spawnp?|fork|forkpty) | (?:subprocess|pexpect|pty)\.\w+", re.VERBOSE
)
"""Functions that start a program."""
FILLED = re.compile(r"--(?:out|err)[ =](\w+)")
"""The names that a magic is told to fill."""
READING = re.compile(
    r"""\b (?: open | read\w* | load\w* | genfromtxt | fromfile | imread | listdir | scandir | glob | walk | exists
          | is_file ) \b""",
    re.VERBOSE,
)


def _installs(command: str) -> bool:
    parts = re.split(r"&&|;|\n", command)
    return any(part.strip() for part in parts) and all(INSTALLING.fullmatch(part) for part in parts)


@dataclass(frozen=True)
class Command:
    """A command in a text: how a sentence shows it, its own text, empty where the code does not hold it, the options
    of a magic, and whether it stands ``alone``, so that nothing takes its result."""

    shown: str
    text: str
    options: str = ""
    alone: bool = False

    @property
    def shows(self) -> bool:
        """Whether it only shows something, to whoever ran it."""
        return self.alone and not FILLED.search(self.options) and bool(SHOWING.fullmatch(self.text))


class Traces:
    """Goes through a notebook, and knows at each cell which ``names`` follow from a command, each with one."""

    def __init__(self, refused: bool) -> None:
        """``refused`` says whether functions that start a program are, too."""
        self.refused = refused
        self.names: dict[str, str] = {}
        self.file = ""
        """A command that may have left a file."""
        self.imported: dict[str, str] = {}
        """Modules, and functions with their module, by the name under which they were imported."""
        self.shells: set[str] = set()
        """Names of IPython's shell."""

    def cell(self, source: str, stopped: bool = False) -> str:
        """Go over a cell, which may have ``stopped`` at an error; returns a command on which it depends, or nothing.

        Raises RecursionError.
        """
        cause, bound = "", set[str]()
        for statement in statements_of(source) if len(source) <= LONGEST else ():
            names, commands = names_in(statement), list(self._commands(statement))
            filled = {name for command in commands for name in FILLED.findall(command.options)}
            commands = [command for command in commands if not _installs(command.text)]
            gives = names.bound | changed_in(statement) | filled
            of = commands[0].shown if commands else ""
            of = of or next((self.names[name] for name in sorted(names.needed) if name in self.names), "")
            if self.file and READING.search(ast.unparse(statement)):
                of = of or self.file
            self.file = next((one.shown for one in commands if not SHOWING.fullmatch(one.text)), self.file)
            for name in gives:
                self.names.pop(name, None)
            self.names |= dict.fromkeys(gives if of else (), of)
            cause, bound = cause or of, bound | gives
        if cause and (filled_by := CAPTURED.match(source)):
            self.names[filled_by[2]] = cause
        if cause and stopped:
            self.names = dict.fromkeys(bound, cause) | self.names
        return cause

    def anywhere(self, source: str) -> str:
        """A command anywhere in an answer; empty where it has none that can matter.

        One that only shows something matters where the answer does nothing else. Raises RecursionError.
        """
        statements = statements_of(source) if len(source) <= LONGEST else []
        found = [list(self._commands(statement)) for statement in statements]
        running = [command for commands in found for command in commands if not _installs(command.text)]
        matter = [command for command in running if not command.shows or CAPTURED.match(source) or all(found)]
        return matter[0].shown if matter else ""

    def _commands(self, statement: ast.stmt) -> Iterator[Command]:
        """The commands of a statement."""
        nodes = nodes_of(statement)
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    self.imported |= {one.bound: one.meaning for one in imports_in([node])}
                case ast.Assign(targets=[ast.Name(name)], value=value) if self._is_shell(value):
                    self.shells.add(name)
                case ast.Call(func=ast.Attribute(shell, kind), args=[first, *rest]) if self._is_shell(shell):
                    text = _text(first)
                    if kind in ("system", "getoutput"):
                        word = re.match(r"\s*([\w./-]{1,40})", text)
                        yield Command(f"!{word[1] if word else ''}", text, alone=id(node) in alone)
                    elif kind in ("run_line_magic", "run_cell_magic") and text in SCRIPTS and rest:
                        shown = f"{'%' if kind == 'run_line_magic' else '%%'}{text}"
                        yield Command(shown, _text(rest[-1]), _text(rest[0]), alone=id(node) in alone)
                case ast.Call(func=ast.Name() | ast.Attribute(ast.Name()) as function, args=args) if self.refused:
                    name, _, attribute = ast.unparse(function).partition(".")
                    full_name = f"{self.imported.get(name, '')}{'.' if attribute else ''}{attribute}"
                    if STARTING.fullmatch(full_name):
                        yield Command(full_name, "".join(map(_text, args[:1])), alone=id(node) in alone)

    def _is_shell(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.shells
            case ast.Call(func=ast.Name("get_ipython") | ast.Attribute(attr="get_ipython")):
                return True
        return False


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.List | ast.Tuple):
        return " ".join(map(_text, node.elts))
    return str(node.value) if isinstance(node, ast.Constant) else ""


class ShellCommands:
    """Says in the reason of each lost check from which command it follows; the doubts are those of ``refused``."""

    def __init__(self, refused: Refused, owner: Mapping[str, str]) -> None:
        """``owner`` is the last answer above that is to give a name, by name, and grows on the way."""
        self.refused, self.owner, self.traces = refused, owner, Traces(refused.sandboxed)
        self.of_answer: dict[str, str] = {}
        """A command in an answer above, by answer."""
        self.last = ""
        """The last answer above."""

    def pass_cell(self, place: Place) -> None:
        with contextlib.suppress(RecursionError, MemoryError):
            self.traces.cell(place.cell.source, stopped=bool(place.errors))
            if place.is_answer:
                self.last = place.name
                self.of_answer[place.name] = self.traces.anywhere(place.cell.source)

    def explain(self, question: Question) -> None:
        with contextlib.suppress(RecursionError, MemoryError):
            if command := self.traces.cell(question.source):
                self.doubt(question, command)

    def doubt(self, question: Question, command: str) -> None:
        """Ask a grader about a lost check, unless something else explains it."""
        result = question.result
        unexplained = not result.cause or result.cause.kind == "not_plain"  # as an empty list of no files
        if result.verdict in LOST and unexplained and not result.undone:
            result.cause = note("command", result.reason[:REASON] or "the check failed", command)
            self.refused.concerned.setdefault("process", {})[question.cell.id] = None

    def doubts(self) -> list[Note]:
        return []


class CommandsBeside:
    """Does so of the lost checks of an answer with a command from which nothing seems to follow."""

    def __init__(self, commands: ShellCommands) -> None:
        self.commands = commands

    def pass_cell(self, place: Place) -> None:
        pass

    def explain(self, question: Question) -> None:
        commands, result = self.commands, question.result
        used = names_in_text(question.source).used
        owners = {commands.owner[name] for name in used if name in commands.owner}
        answers = [*[answer for answer in commands.of_answer if answer in owners][-1:], commands.last]
        if command := next(filter(None, (commands.of_answer.get(answer) for answer in answers)), ""):
            if result.lost and result.verdict in LOST:  # which is the nearer reason
                commands.refused.concerned.setdefault("process", {})[question.cell.id] = None
            else:
                commands.doubt(question, command)

    def doubts(self) -> list[Note]:
        return []
