"""The command that grades what arrives: watch."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from msgspec import structs
from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.preprocessors import Execute
from rich.table import Table
from traitlets import Bool

from viva.commands.command import JSON, NO_SANDBOX, WORKERS, VivaCommand
from viva.course.examining.autograde import Autograde, Examine
from viva.course.gradebook import health
from viva.course.processes import stopping
from viva_watch import status
from viva_watch.memory import Memory
from viva_watch.terms import Watch
from viva_watch.watcher import Renewal, Watcher


class WatchCommand(VivaCommand):
    name = "viva-watch"
    heading = "Grade"
    description = "Grade submissions as they arrive, and write their feedback pages, until you stop it."
    examples = """
        viva watch                     all assignments; Ctrl-C ends it
        viva watch ps1                 one assignment
        viva watch --status            what the watcher does
    """
    aliases = nbgrader_aliases | WORKERS
    flags = VivaCommand.flags | NO_SANDBOX | JSON
    flags |= {"status": ({"WatchCommand": {"status": True}}, "Show what the watcher of this course does.")}
    settings = (Watch, Autograde, Execute, Examine)
    status = Bool(False, help="Show what the watcher of this course does.").tag(config=True)

    def _prepare(self, stack: contextlib.ExitStack) -> None:
        if self.status:  # it is read, also where nothing can be written
            self.course.require_folder()
        else:
            super()._prepare(stack)

    def run(self) -> int:
        if self.status:
            self._show_status()
            return 0
        assignments = self.chosen_assignments()
        configured = [Path(folder, "nbgrader_config.py") for folder in self.config_file_paths]

        def tell(memory: Memory) -> None:
            status.write(self.course.root, memory)

        watcher = Watcher(
            self.course,
            self.config,
            assignments,
            workers=self.workers or None,
            report=self._report,
            configured=configured,
            write=self._log,
            tell=tell,
        )
        health.settle(self.course)
        with contextlib.suppress(Renewal), stopping.postponed():
            watcher.run()
        self.renewed = True
        return 0

    renewed = False

    def start(self) -> None:
        super().start()
        if self.renewed:  # everything is closed; what the configuration says now counts
            os.execv(sys.executable, [sys.executable, "-P", "-m", "viva", *sys.argv[1:]])

    def _log(self, line: str) -> None:
        print(line, flush=True)

    def _report(self, assignments: list[str]) -> None:
        from viva.pages import report  # SciPy and Matplotlib take a second to load
        from viva.pages.reporting.findings import people_of

        health.settle(self.course)
        report.write(self.course, assignments, "http://localhost:8888", False, people_of(self.course), None)

    def _show_status(self) -> None:
        memory = Memory.read(self.course.root)
        self._say(f"{status.state(self.course.root, memory)}.", *status.lines(memory))
        for title, events in status.tables_of(memory):
            if events:
                table = Table(*status.COLUMNS, title=title, title_justify="left")
                for row in status.rows(events):
                    table.add_row(*row)
                self.console.print(table)
        self.show_document(
            watched=status.is_watched(self.course.root),
            waiting=memory.waiting,
            later=memory.later,
            started=memory.started,
            looked=memory.looked,
            graded=memory.graded,
            a_minute=round(memory.a_minute(), 1),
            last=list(map(structs.asdict, memory.last)),
            errors=list(map(structs.asdict, memory.errors)),
            passed=list(map(structs.asdict, memory.passed.values())),
            dated_back=list(map(structs.asdict, memory.dated_back)),
        )
