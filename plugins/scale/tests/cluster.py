"""A real Dask cluster for tests: scheduler and workers are processes of their own, on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from distributed import Scheduler

from tests.conftest import PROJECT, load
from tests.faults import TINY
from viva.course.grading.batch import autograde
from viva.course.processes import stopping
from viva.submission.submission import Ending
from viva_scale.clustergraders import ClusterGraders

LIE = """
import importlib.metadata, platform, sys
import viva
from viva.sandbox import protection
{}
from distributed.cli.dask_worker import main
sys.argv = ["dask-worker", *sys.argv[1:]]
main()
"""
"""A worker, or a scheduler, that is not quite what it should be."""


class Dask:
    """A scheduler and its workers, which end with the ``with`` block."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        (folder / "tmp").mkdir(parents=True)
        self.environment = os.environ | environment | {"PYTHONPATH": str(PROJECT), "TMPDIR": str(folder / "tmp")}
        self.processes: list[subprocess.Popen] = []
        self.security: tuple[str, ...] = ()
        self.count = 0

    def __enter__(self) -> Dask:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        print((self.folder / "log").read_text() if (self.folder / "log").exists() else "")  # seen where a test fails

    def _run(self, *command: str, within: tuple[str, ...] = (), **environment: str) -> subprocess.Popen:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*within, sys.executable, *command, *self.security],
                cwd=self.folder,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def schedule(self, *options: str, lie: str = "") -> str:
        """Start the scheduler; its address, once it listens."""
        self.file.unlink(missing_ok=True)
        what = (
            ("-c", LIE.format(lie).replace("worker", "scheduler")) if lie else ("-m", "distributed.cli.dask_scheduler")
        )
        process = self._run(
            *(*what, "--no-dashboard", "--no-jupyter", "--host", "127.0.0.1"),
            *("--port", "0", "--scheduler-file", str(self.file), *options),
        )
        for _ in range(600):
            with contextlib.suppress(OSError, ValueError):
                return json.loads(self.file.read_text())["address"]
            assert process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.1)
        raise AssertionError("the scheduler does not start")

    def work(
        self,
        threads: int = 1,
        lie: str = "",
        within: tuple[str, ...] = (),
        host: str = "127.0.0.1",
        ready: bool = True,
        **environment: str,
    ) -> subprocess.Popen:
        """Start a worker; back when the scheduler knows it, where it is to be ``ready``."""
        self.count += 1
        what = ("-c", LIE.format(lie)) if lie else ("-m", "distributed.cli.dask_worker")
        process = self._run(
            *(*what, "--scheduler-file", str(self.file), "--no-nanny", "--no-dashboard", "--host", host),
            *("--nthreads", str(threads), "--name", f"w{self.count}", "--local-directory", str(self.folder)),
            within=within,
            **environment,
        )
        if not ready:
            return process
        log = self.folder / "log"
        for _ in range(900):
            if log.read_text().count("Registered to:") >= self.count:
                return process
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        raise AssertionError("the worker does not start")


def batches(dask_scheduler: Scheduler) -> int:
    """At the scheduler: how many batches have tasks there."""
    tasks = (task for key, task in dask_scheduler.tasks.items() if str(key).startswith("viva-"))
    return len({client.client_key for task in tasks for client in task.who_wants or ()})


def processes(worker: subprocess.Popen) -> list[psutil.Process]:
    """The grading processes of a worker that a test has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(worker.pid).children()
        return [child for child in children if "viva_scale.workerservice" in child.cmdline()]
    return []


def grade_there(course: Path, address: str, told: list[str] | None = None, **settings: object) -> list[Ending]:
    """Grade a tiny course on a cluster, in this process; ``told`` gets what is said on the way."""
    return list(grading_there(course, address, told, **settings))


def grading_there(course: Path, address: str, told: list[str] | None = None, **settings: object) -> Iterator[Ending]:
    opened, config = load(course)
    config.Cluster.address = address
    for name, value in settings.items():
        section, _, key = name.rpartition("__")
        config[section or "Cluster"][key] = value
    tell = [].append if told is None else told.append
    with contextlib.chdir(course), stopping.orderly():
        remote = ClusterGraders.of(config)
        yield from autograde(opened, opened.submissions([TINY]), config=config, remote=remote, tell=tell)


def filed(course: Path) -> dict[str, tuple[bytes, int]]:
    """What lies in autograded/, with the modes."""
    root = course / "autograded"
    files = [path for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode) for path in files}
