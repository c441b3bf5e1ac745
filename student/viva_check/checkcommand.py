"""The student's command: check. It is not a step of a course. It starts quickly, as it does not load nbgrader."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.markup import escape
from traitlets import Bool, Unicode, default
from traitlets.config import Application

import viva
from viva import wording
from viva.cli import BAD_REQUEST
from viva.commands.terminal import ShortHelp, console, print_document
from viva.course.processes import leftovers, stopping
from viva.location import course_of_students_files
from viva.record import note
from viva.verdict import NOT_DONE, SandboxError, Verdict, VivaError

SOME_FAIL = 1
STYLES = {Verdict.PASSED: "green", Verdict.PARTLY: "yellow", NOT_DONE: "yellow"}


class CheckCommand(ShortHelp, Application):
    name = "viva-check"
    description = "For students: run the visible checks of a notebook, exactly as in grading."
    heading = "Class"
    arguments = "NOTEBOOK"
    completes = "notebooks"
    version = viva.__version__
    examples = """
        viva check scaled_attention.ipynb                       your notebook
        viva check scaled_attention.ipynb --original=new.ipynb  with the original notebook, to restore cells
        viva check scaled_attention.ipynb --json                for another program
        viva check scaled_attention.ipynb --portable            in an ordinary kernel, as on macOS and Windows
    """
    aliases = {"original": "CheckCommand.original"}
    flags = {
        "json": ({"CheckCommand": {"json": True}}, "Print one JSON document and nothing else."),
        "portable": ({"CheckCommand": {"portable": True}}, "Run it in an ordinary kernel, as on macOS and Windows."),
    }
    original = Unicode("", help="The notebook as you downloaded it, to restore cells.").tag(config=True)
    json = Bool(False, help="Print JSON.").tag(config=True)
    portable = Bool(help="Run it in an ordinary kernel. The environment variable VIVA_PORTABLE=1 does the same.").tag(
        config=True
    )

    @default("portable")
    def _portable_default(self) -> bool:
        return os.environ.get("VIVA_PORTABLE", "") not in ("", "0") or sys.platform != "linux"

    def start(self) -> None:
        with stopping.orderly():
            try:
                if len(self.extra_args) != 1:
                    raise VivaError("Name one notebook, as in: viva check scaled_attention.ipynb")
                with contextlib.nullcontext() if self.portable else leftovers.temporary_folder():
                    status = self._check(Path(self.extra_args[0]))
            except VivaError as error:
                self._say_error(str(error))
                status = BAD_REQUEST
            except OSError as error:
                if getattr(sys.stdout, "lost", None):  # viva check NOTEBOOK | head
                    raise
                self._say_error(f"{error.filename or self.extra_args[0]} cannot be read: {error.strerror}.")
                status = BAD_REQUEST
            except KeyboardInterrupt as stopped:
                status = stopping.sentence(stopped)[1]
                self._say_error("Stopped.")
        if status:
            self.exit(status)

    def _check(self, path: Path) -> int:
        grader, data = self._portable_grader(path) if self.portable else self._forking_grader(path)
        from viva_check import selfcheck

        try:
            copy = selfcheck.open_bytes(data, path, Path(self.original) if self.original else None)
            if copy.memory != grader.limits.memory_bytes:
                grader.allow(copy.memory)
            # On a terminal alone: what waits for minutes without a word seems to hang.
            doing = escape(copy.language.text("check.checking", file=path.name))
            with console(errors=True).status(doing) as status:

                def watch(cell: str) -> None:
                    status.update(f"{doing}: {escape(cell)}")

                tried, faults = selfcheck.practise(copy, grader, path.resolve().parent, watch)
        finally:
            grader.close()
        if faults:
            why = note("grader_failed", faults[0].what)
            sentence = wording.sentence(why, wording.STUDENT, copy.language)
            raise SandboxError(wording.standing_alone(sentence, copy.language))
        (self._print_json if self.json else self._print)(path, copy, tried)
        return 0 if all(result.passed for result in tried if result.counts) else SOME_FAIL

    def _forking_grader(self, path: Path):
        from viva.engine import libraries
        from viva.engine.grading import Grader
        from viva_check import selfcheck

        data = selfcheck.read_bytes(path)
        if (sandboxes := selfcheck.sandboxes()) is None:
            require_own(path)
        # While the fork servers load their libraries, this process loads the rest.
        wanted, settings = libraries.mentioned([data]), selfcheck.own_settings()
        return Grader(sandboxes=sandboxes, libraries=wanted, environment=settings), data

    def _portable_grader(self, path: Path):
        try:
            from viva_check.kernel import KernelGrader
        except ModuleNotFoundError as error:
            raise VivaError(
                f"The check needs {error.name}, which is not installed: python -m pip install nbclient ipykernel"
            ) from error
        from viva_check import selfcheck

        data = selfcheck.read_bytes(path)
        require_own(path)
        return KernelGrader(), data

    def _print_json(self, path: Path, copy, tried: list) -> None:
        from viva_check import selfcheck

        spoken = copy.language
        lines = iter(selfcheck.told((result for result in tried if result.counts), spoken))
        checks = [
            vars(result)
            | {"passed": result.passed, "counts": result.counts, "told": next(lines) if result.counts else []}
            | ({"word": selfcheck.word_of(result.state, spoken)} if result.counts else {})
            for result in tried
        ]
        document = {"notebook": str(path), "checks": checks, "repairs": copy.remarks, "kinds_known": copy.described}
        document |= {"summary": _sums(copy, tried), "rows": [vars(row) for row in selfcheck.rows(tried, spoken)]}
        document |= {"remarks": _remarks(path, copy), "language": spoken.tag}
        print_document(document)

    def _print(self, path: Path, copy, tried: list) -> None:
        from viva_check import selfcheck

        terminal = console(soft_wrap=True)
        for sentence in _remarks(path, copy):
            terminal.print(sentence)
        rows, heading = selfcheck.rows(tried, copy.language), None
        width = max([12, *(cell_len(row.word) for row in rows)])
        for row in rows:
            if row.heading != heading:
                heading = row.heading
                terminal.print(heading, style="bold")
            points = f"{row.points:g}" if row.points else ""
            word = set_cell_size(row.word, width)
            terminal.print(f"  {word} {points:>4}  {row.title}", style=STYLES.get(row.state, "red"))
            for line in row.lines:
                terminal.print(f"{'':{width + 8}}{line}")
        for sentence in _sums(copy, tried):
            terminal.print(sentence)


def require_own(path: Path) -> None:
    """Raises VivaError for a notebook that is not the user's own, as without a sandbox it has all the user's rights."""
    folder, user = path.resolve().parent, getattr(os, "geteuid", None)
    if course := course_of_students_files(folder, released=False):
        why = f"it is in a folder with files of students of the course {course}"
    elif user and path.stat().st_uid != user():
        why = "it belongs to another user"
    else:
        return
    raise VivaError(
        f"{path} was not checked, because {why}. Without a sandbox it could read and change all your files. On "
        "Linux, 'viva doctor' lists what a sandbox needs. If you trust the notebook, copy it to a folder of your "
        "own."
    )


def _remarks(path: Path, copy) -> list[str]:
    """What is said above the checks: sentences about the file."""
    end = copy.language.text("forms.end")
    remarks = wording.folded(copy.remarks, language=copy.language)
    return [f"{path.name}: {remark}{'' if remark.endswith(('.', end)) else end}" for remark in remarks]


def _sums(copy, tried: list) -> list[str]:
    say, visible = copy.language.text, [result for result in tried if result.counts]
    passed, partly = (sum(result.state == state for result in visible) for state in (Verdict.PASSED, Verdict.PARTLY))
    if partly:
        sentences = [say("check.passing_partly", len(visible), passed=passed, partly=partly)]
    else:
        sentences = [say("check.passing", len(visible), passed=passed)]
    if any(result.state == NOT_DONE for result in visible):
        sentences.append(say("check.not_done"))
    # A test cell that was deleted or changed would make the sums too small.
    if copy.unchecked or not copy.described:
        sentences.append(say("check.unknown_hidden"))
    if not copy.unchecked and (hidden := sum(result.points for result in tried if not result.counts)):
        sentences.append(say("check.hidden", points=say("forms.point", hidden)))
    if not copy.unchecked and (cut := sum(result.points for result in visible if result.cut)):
        sentences.append(say("check.cut", points=say("forms.point", cut)))
    if by_hand := copy.examination.blueprint.manual_points:
        sentences.append(say("check.by_hand", points=say("forms.point", by_hand)))
    if not copy.described:
        sentences.append(say("check.untyped"))
    return sentences
