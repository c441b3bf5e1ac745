"""What a command and its processes take while they run: time, memory, processor time, and how many results are there.

Memory is the proportional set size: what several processes share counts once, so that forks do not look like growth.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

BIN = Path(sys.executable).parent
EVERY = 1.0
"""Seconds from one look to the next."""
PARENTS = {"viva-candidate": "candidates", "viva-examiner": "examiners"}
"""The roles of fork servers, by what the system calls them; their forks are called the same."""


@dataclass
class Look:
    """What was seen at one moment; memory in bytes and processor time in seconds, both by role."""

    at: float
    done: int
    memory: Counter = field(default_factory=Counter)
    spent: Counter = field(default_factory=Counter)


class Watch:
    """Runs commands in a course, and looks at them; ``looks`` are those at the last command."""

    def __init__(self, root: Path) -> None:
        self.root, self.looks = root, []
        self.results = root / "results.jsonl"

    def run(self, *command: str) -> float:
        """The seconds of one `viva` command. Exits where it ends with an error, with what it printed."""
        environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
        begin, lines, log = self._place(), self._lines(), self.root / "bench.log"
        start, done = time.monotonic(), threading.Event()
        with log.open("wb") as output:
            words = [str(BIN / "viva"), *command]
            process = subprocess.Popen(words, cwd=self.root, env=environment, stdout=output, stderr=subprocess.STDOUT)
        self.looks, spent = [Look(0.0, 0)], {}
        watcher = threading.Thread(target=self._watch, args=(process.pid, start, done, begin, spent, lines))
        watcher.start()
        try:
            status = process.wait()
        except KeyboardInterrupt:  # it was pressed for the command as well, which ends in order
            process.wait()
            raise
        finally:
            done.set()
            watcher.join()
        if status not in (0, 1):
            sys.exit(f"{' '.join(command)} ended with {status}:\n{log.read_text()[-3000:]}")
        return time.monotonic() - start

    def _place(self) -> tuple[int, int]:
        """Which file the results are in, and where it ends."""
        about = self.results.stat() if self.results.exists() else None
        return (about.st_ino, about.st_size) if about else (0, 0)

    def _watch(
        self, pid: int, start: float, done: threading.Event, begin: tuple[int, int], spent: dict, lines: int
    ) -> None:
        (inode, offset), count, before = begin, 0, lines
        while not done.wait(EVERY):
            here, size = self._place()
            if inode in (0, here) and size > offset:  # another file is the same, put in order
                with self.results.open("rb") as file:
                    file.seek(offset)
                    lines = file.read(size - offset)
                inode, offset, count = here, size, count + lines.count(b"\n")
            look = Look(time.monotonic() - start, count)
            self._look(pid, look, spent)
            self.looks.append(look)
        if (total := self._lines() - before) > count:  # recorded, and put in order, since the last look
            last = Look(time.monotonic() - start, total)
            last.spent, last.memory = self.looks[-1].spent, self.looks[-1].memory
            self.looks.append(last)

    def _lines(self) -> int:
        return self.results.read_bytes().count(b"\n") if self.results.exists() else 0

    def _look(self, pid: int, look: Look, spent: dict) -> None:
        try:
            processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.Error:
            processes = []
        for process in processes:
            try:
                role, times = role_of(process, pid), process.cpu_times()
                look.memory[role] += process.memory_full_info().pss
            except (psutil.Error, OSError, AttributeError):  # it has ended meanwhile
                continue
            if role != "forks":  # those of forks come to their fork server when they end
                forks = times.children_user + times.children_system if role in PARENTS.values() else 0.0
                spent[role, process.pid] = times.user + times.system + forks
        for (role, _), seconds in spent.items():
            look.spent[role] += seconds


def role_of(process: psutil.Process, writer: int) -> str:
    """What a process of `viva grade` does."""
    if process.pid == writer:
        return "writer"
    if (name := process.name()) in PARENTS:
        return "forks" if process.parent().name() == name else PARENTS[name]
    text = " ".join(process.cmdline())
    return (
        "worker processes"
        if "workerservice" in text
        else "Dask"
        if "distributed" in text or "dask" in text
        else "workers"
    )
