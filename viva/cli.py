"""The `viva` command: one subcommand per step of the flow, configured by nbgrader_config.py.

The commands are named here and loaded when they are called: nbgrader takes seconds to load.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import gc
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from traitlets.config import Application

import viva
from viva import doors
from viva.course.processes import leftovers, stopping
from viva.verdict import CourseError, VivaError

COMMANDS = doors.Door(
    "viva.commands",
    adds="a command",
    entry="a subclass of `viva.commands.command.VivaCommand`",
    packages={
        "adopt": "nbviva-audit",
        "audit": "nbviva-audit",
        "demo": "nbviva-audit",
        "collect": "nbviva-term",
        "roster": "nbviva-term",
        "lti": "nbviva-lti",
        "canvas": "nbviva-lti",
        "package": "nbviva-gradescope",
        "watch": "nbviva-watch",
        "diagnose": "nbviva-diagnosis",
    },
)
FLOW = {
    "Write assignments": {
        "init": (
            "setup.InitCommand",
            "Create a course in a folder, with a first assignment; or list what an nbgrader course lacks.",
        ),
        "new": (
            "author.NewCommand",
            "Write a small assignment to start from: a notebook, a right answer, two wrong ones.",
        ),
        "release": (
            "author.ReleaseCommand",
            "Compile assignments that pass their audit into release/ and enter them into the gradebook.",
        ),
    },
    "Class": {
        "deadlines": (
            "deadlines.DeadlinesCommand",
            "List deadlines, late penalties and late students, or try another late policy.",
        ),
        "extend": (
            "extend.ExtendCommand",
            "Give students an extension for an assignment, or excuse them from it; or undo that.",
        ),
    },
    "Grade": {
        "grade": (
            "grade.GradeCommand",
            "Grade submissions automatically; graded submissions that did not change are skipped.",
        ),
        "regrade": (
            "regrade.RegradeCommand",
            "Release a corrected assignment, grade its submissions again, and list changed scores.",
        ),
    },
    "Return feedback": {
        "feedback": (
            "hand_back.FeedbackCommand",
            "Write a feedback page for each graded submission; unchanged pages are skipped.",
        ),
        "rubric": (
            "applyrubric.RubricCommand",
            "List repeated comments, and update comments and scores where a rubric item has changed.",
        ),
        "report": (
            "hand_back.ReportCommand",
            "Write a class report: scores, checks, open grading work, integrity, similar answers.",
        ),
        "export": (
            "exportgrades.ExportCommand",
            "Write all scores to a CSV file or a learning system's file, and print them as a table.",
        ),
    },
    "Course and machine": {
        "doctor": (
            "setup.DoctorCommand",
            "List what this machine or course lacks, with the command that fixes it.",
        ),
        "completion": (
            "completion.CompletionCommand",
            "Print the script that completes viva's commands in bash, zsh or fish.",
        ),
    },
}
"""The core's commands by part of the flow: where each stands below viva.commands, and what it does."""
WITHOUT_NBGRADER = ("completion",)
"""The core's commands that the small distribution for students has."""
GRADING = ("audit", "release", "grade", "regrade")
"""The commands that run student code."""
NEEDS_GRADER, BAD_REQUEST = 1, 2
PIPE_CLOSED = 141
"""The exit status of a program that SIGPIPE ended."""
STATUSES = (
    "Exit status: 0 done; 1 something needs you (check: a visible check does not pass);\n"
    "2 wrong command line, or a problem in the course; 130 stopped. 'viva COMMAND --help' has examples."
)


def is_complete() -> bool:
    """Whether nbgrader is there: the small distribution for students has only the commands that need none."""
    return importlib.util.find_spec("nbgrader") is not None


def flow() -> dict[str, dict[str, tuple[str, str]]]:
    """Each command with its class and description, by part of the flow; those of other packages come last.

    Raises CourseError where two packages add the same command.
    """
    complete = is_complete()
    parts = {
        part: {
            name: (f"viva.commands.{module}", description)
            for name, (module, description) in commands.items()
            if complete or name in WITHOUT_NBGRADER
        }
        for part, commands in FLOW.items()
    }
    parts = {part: commands for part, commands in parts.items() if commands}
    core = {name for commands in FLOW.values() for name in commands}
    for name, entry in COMMANDS.entries(core).items():
        declared = _declared(entry)
        commands = parts.setdefault(declared.get("heading", "More commands"), {})
        commands[name] = (entry.value.replace(":", "."), declared.get("description", ""))
    return parts


def subcommands() -> dict[str, tuple[str, str]]:
    """Each command with its class and what it does. Raises CourseError as ``flow`` does."""
    return {name: command for commands in flow().values() for name, command in commands.items()}


def _declared(entry: EntryPoint) -> dict[str, str]:
    """The texts in the body of a command's class, read from its source: to import it would load nbgrader."""
    try:
        spec = importlib.util.find_spec(entry.module)
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8")) if spec and spec.origin else None
    except (ImportError, OSError, ValueError, SyntaxError):  # the command says so when it is called
        return {}
    body = [node for top in (tree.body if tree else ()) if isinstance(top, ast.ClassDef) and top.name == entry.attr
            for node in top.body]  # fmt: skip
    return {
        target.id: node.value.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


class Viva(Application):
    name = "viva"
    description = "An autograded course on attention: release, grade, give feedback."
    version = viva.__version__
    subcommands = {
        name: (f"viva.commands.{module}", description)
        for commands in FLOW.values()
        for name, (module, description) in commands.items()
    }

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        command = (sys.argv[1:] if argv is None else argv)[:1]
        if not command or command[0] not in self.subcommands:  # to look for other packages takes a tenth of a second
            self.subcommands = subcommands()
            if command and command[0] in self.subcommands:
                COMMANDS.load(command[0])
        super().parse_command_line(argv)

    def print_help(self, classes: bool = False) -> None:
        print("Usage: viva COMMAND [ASSIGNMENT ...] [OPTIONS]")
        width = max(map(len, self.subcommands))
        for part, commands in flow().items():
            print(f"\n{part}")
            for name, (_, description) in commands.items():
                print(f"  {name:{width}}  {description}")
        print(f"\n{STATUSES}")

    def _show_overview(self) -> None:
        """The state of the course and the next command; where there is only the check, what it has."""
        if not is_complete():
            self.print_help()
            return
        from viva.course.grading.overview import overview

        print(overview(Path.cwd()))

    def start(self) -> None:
        if self.subapp is None:
            if not self.extra_args:
                self._show_overview()
                self.exit(0)
            name, *_ = self.extra_args
            begun = [command for command in self.subcommands if command.startswith(name)]
            near = begun[:1] or difflib.get_close_matches(name, self.subcommands, 1)
            meant = f" Did you mean 'viva {near[0]}'?" if near else ""
            advice = COMMANDS.lacking(name) or f"{meant.strip()} Run 'viva --help' to list the commands.".strip()
            print(f"There is no command '{name}'. {advice}", file=sys.stderr)
            self.exit(BAD_REQUEST)
        gc.freeze()
        gc.enable()
        super().start()


class Output(io.TextIOWrapper):
    """Standard output, which remembers that it could not be written to."""

    lost: OSError | None = None
    told = False
    """Whether that was said."""

    def write(self, text: str) -> int:
        return self._tried(super().write, text)

    def flush(self) -> None:
        self._tried(super().flush)

    def _tried(self, do: Callable, *texts: str) -> Any:
        try:
            return do(*texts)
        except OSError as error:
            self.lost = self.lost or error
            raise


def main() -> None:
    """Do what is asked for; a sentence where standard output cannot be written to, and none where nobody reads on."""
    status: str | int | None = 0
    if isinstance(old := sys.stdout, io.TextIOWrapper):  # else it was closed
        buffering, through = old.line_buffering, old.write_through
        sys.stdout = Output(old.buffer, old.encoding, old.errors, line_buffering=buffering, write_through=through)
    try:
        _launch()
    except SystemExit as stop:
        status = stop.code
    except OSError:
        if not (lost := lost_output()):
            raise
        sys.exit(lost)
    sys.exit(lost_output() or status)


def lost_output() -> int:
    """The exit status where standard output took no more, which is said; from then on it goes nowhere. Else 0."""
    if not isinstance(sys.stdout, Output):
        return 0
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    if (error := sys.stdout.lost) is None:
        return 0
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # else Python would say so once more when it ends
    os.close(nowhere)
    if isinstance(error, BrokenPipeError):  # as in: viva --help | head
        return PIPE_CLOSED
    if not sys.stdout.told:
        sys.stdout.told = True
        with contextlib.suppress(OSError):
            print(f"Cannot write to standard output: {error.strerror}.", file=sys.stderr, flush=True)
    return BAD_REQUEST


def _launch() -> None:
    gc.disable()  # what is loaded stays, and to walk through it takes a tenth of a second each time
    # nbgrader calls alembic by name; workers are processes, so one thread each is enough for NumPy.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    command, *options = sys.argv[1:] or [""]
    if command != "check":  # a kernel imports what lies beside its notebook
        os.environ.setdefault("PYTHONSAFEPATH", "1")  # libraries start Python too, maybe in a student's folder
    beside = command in GRADING and not {"-h", "--help", "--help-all"} & set(options)
    with _prepared(options) if beside else contextlib.nullcontext():
        try:
            Viva.launch_instance()
        except ModuleNotFoundError as error:
            if error.name != "nbgrader":
                raise
            asked = f"Ask your instructor for its wheel: {doors.install('nbviva')}"
            print(f"'viva {command}' needs the complete Viva. {asked}", file=sys.stderr)
            sys.exit(BAD_REQUEST)
        except CourseError as error:  # a package that adds to Viva
            print(error, file=sys.stderr)
            sys.exit(BAD_REQUEST)


@contextlib.contextmanager
def _prepared(words: list[str]) -> Iterator[None]:
    """The process that fork servers come from starts beside this one, which loads nbgrader.

    What the released notebooks speak of is likely to be wanted; those that are named among ``words``, or all.
    """
    from viva.engine import libraries, parent

    released = sorted(Path("release").glob("*/*.ipynb"))
    chosen = [path for path in released if path.parent.name in words] or released
    with contextlib.ExitStack() as stack:
        stopping.at_once(stack.close)
        with contextlib.suppress(OSError, VivaError):  # the machine is full: it is said where it is needed
            stack.enter_context(leftovers.temporary_folder())
            stack.callback(parent.abandon)
            parent.prepare(libraries.wanted((), chosen))
        yield
