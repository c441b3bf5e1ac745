"""Commands for the shell in a student's code, which are not run in grading, and the checks that this may have cost.

Such a line does not stop its cell: `!pip install` stands in many notebooks and has no consequence here. But what a
command was to give is empty or not there, and the answer may be right where it was written. So the text is read: which
statements hold a command, which names follow from it, also by way of a file, and which lost checks use these. Where an
answer is nothing but commands, the lost checks below it, up to the next answer, follow from them too. A grader looks at
them. Functions that raise an exception where they are refused (`subprocess`, `os.popen`) are commands too: code may
have caught it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from viva.engine.examination import Examination
from viva.engine.names import changed_in, names_in, nodes_of, parsed
from viva.engine.outcome import Outcome
from viva.notebook.cell import ANSWERS, Purpose, name_of
from viva.record import note
from viva.verdict import Verdict

LOST = (Verdict.FAILED, Verdict.ERROR, Verdict.PARTLY)
LONGEST, REASON = 200_000, 200
"""Characters of a cell that is read, and of a reason that is repeated."""
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
CAPTURED = re.compile(r"\A\s*%%capture[ \t]+(\w+)")
READING = re.compile(
    r"""\b (?: open | read\w* | load\w* | genfromtxt | fromfile | imread | listdir | scandir | glob | walk | exists
          | is_file ) \b""",
    re.VERBOSE,
)


def _installs(command: str) -> bool:
    parts = re.split(r"&&|;|\n", command)
    return any(part.strip() for part in parts) and all(INSTALLING.fullmatch(part) for part in parts)


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
        tree, cause = parsed(source) if len(source) <= LONGEST else None, ""
        bound: set[str] = set()
        for statement in tree.body if tree else ():
            names = names_in(statement)
            commands = [(shown, text) for shown, text, _ in self._commands(statement) if not _installs(text)]
            filled = {name for _, _, options in self._commands(statement) for name in FILLED.findall(options)}
            gives = names.bound | changed_in(statement) | filled
            of = next(iter(shown for shown, _ in commands), "")
            of = of or next((self.names[name] for name in sorted(names.needed) if name in self.names), "")
            if self.file and READING.search(ast.unparse(statement)):
                of = of or self.file
            self.file = next((shown for shown, text in commands if not SHOWING.fullmatch(text)), self.file)
            for name in gives:
                self.names.pop(name, None)
            self.names |= dict.fromkeys(gives if of else (), of)
            cause, bound = cause or of, bound | gives
        if cause and (filled_by := CAPTURED.match(source)):
            self.names[filled_by[1]] = cause
        if cause and stopped:
            self.names = dict.fromkeys(bound, cause) | self.names
        return cause

    def only(self, source: str) -> str:
        """The first command of a cell that does nothing but run commands; empty for any other cell."""
        tree = parsed(source) if len(source) <= LONGEST else None
        commands = [list(self._commands(statement)) for statement in tree.body] if tree else []
        running = [
            (shown, text)
            for statement_commands in commands
            for shown, text, _ in statement_commands
            if not _installs(text)
        ]
        return running[0][0] if running and all(commands) else ""

    def _commands(self, statement: ast.stmt) -> Iterator[tuple[str, str, str]]:
        """The commands of a statement: how each is shown in a sentence, its text, empty where the code does not hold
        it, and the options of a magic."""
        for node in nodes_of(statement):
            match node:
                case ast.Import(names=aliases):
                    self.imported |= {alias.asname or alias.name: alias.name for alias in aliases}
                case ast.ImportFrom(module=str(module), names=aliases):
                    self.imported |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in aliases}
                case ast.Assign(targets=[ast.Name(name)], value=value) if self._is_shell(value):
                    self.shells.add(name)
                case ast.Call(func=ast.Attribute(shell, kind), args=[first, *rest]) if self._is_shell(shell):
                    text = _text(first)
                    if kind in ("system", "getoutput"):
                        word = re.match(r"\s*([\w./-]{1,40})", text)
                        yield f"!{word[1] if word else ''}", text, ""
                    elif kind in ("run_line_magic", "run_cell_magic") and text in SCRIPTS and rest:
                        yield f"{'%' if kind == 'run_line_magic' else '%%'}{text}", _text(rest[-1]), _text(rest[0])
                case ast.Call(func=ast.Name() | ast.Attribute(ast.Name()) as function, args=args) if self.refused:
                    name, _, attribute = ast.unparse(function).partition(".")
                    full_name = f"{self.imported.get(name, '')}{'.' if attribute else ''}{attribute}"
                    if STARTING.fullmatch(full_name):
                        yield full_name, "".join(map(_text, args[:1])), ""

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


def mark(outcome: Outcome, notebook: NotebookNode, examination: Examination, sandboxed: bool) -> list[str]:
    """Say in the reason of each lost check which command it may have been lost by; returns the test cells."""
    if not any(result.verdict in LOST for results in outcome.checks.values() for result in results):
        return []
    cells, traces = {cell.id: cell for cell in examination.blueprint.cells}, Traces(sandboxed)
    concerned: dict[str, None] = {}
    only = ""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        name = name_of(cell)
        expected = cells.get(name)
        try:
            if expected is None or expected.purpose != Purpose.TESTS:
                stopped = any(output["output_type"] == "error" for output in outcome.outputs.get(index, ([], None))[0])
                traces.cell(cell.source, stopped)
                if expected is not None and expected.purpose in ANSWERS:
                    only = traces.only(cell.source)
                continue
            for check, result in zip(expected.checks, outcome.checks.get(name, []), strict=False):
                command = traces.cell(f"{expected.prelude}\n{check.source}") or only
                unexplained = not result.cause or result.cause.kind == "not_plain"  # as an empty list of no files
                if command and result.verdict in LOST and unexplained and not result.undone:
                    result.cause = note("command", result.reason[:REASON] or "the check failed", command)
                    concerned[name] = None
        except (RecursionError, MemoryError):
            continue
    return list(concerned)
