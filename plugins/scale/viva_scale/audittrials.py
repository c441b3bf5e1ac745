"""An audit on a cluster: the trials go to worker processes, and their results come back.

Only the course's own notebook and its answers travel, to machines that run what the course asks them to anyway: so
jobs and results are pickled, as they are on the way to the workers of this machine.
"""

from __future__ import annotations

import contextlib
import pickle
import shutil
import tempfile
from pathlib import Path

from viva.course.examining.rehearsals import Rehearsals
from viva.engine.examination import Examination
from viva.folder import fill, walk
from viva.verdict import ClusterError, VivaError
from viva_audit.trials import Worker, make_grader
from viva_scale.clusteraddress import Cluster
from viva_scale.workerprocess import Known, Recent, Reply, Request, Settings

MOST_NOTEBOOKS = 4
CELLS = 60
"""The cells that a trial may wait for, each up to its limit, while the time of the notebook is unknown."""


class Trials:
    """The task: a job is a tuple as an audit's Worker takes it, and so is what comes back."""

    service = "viva_scale.audittrials.Trying"

    def __init__(
        self,
        cluster: Cluster,
        path: Path,
        data: Path,
        seconds: float,
        budget: float,
        submitted: frozenset[str] = frozenset(),
    ) -> None:
        """About the complete notebook at ``path`` with the files in ``data``; a cell may take ``seconds``, a notebook
        ``budget``. The files ``submitted`` are the students' own (``submitted_files`` of ``examining.rehearsals``)."""
        self.cluster, self.path, self.seconds, self.budget = cluster, path, seconds, budget
        self.notebook = Known(pickle.dumps((str(path), path.read_bytes(), _files(data), submitted)))

    def refusal(self, job: tuple) -> str:
        return ""

    def known(self, job: tuple) -> Known:
        return self.notebook

    def limit(self, job: tuple) -> float:
        examinations = [examination for examination in job if isinstance(examination, Examination)]
        needed = [examination.budget(self.seconds, self.budget) for examination in examinations]
        return self.cluster.limit(max(needed, default=CELLS * self.seconds))

    def package(self, job: tuple) -> bytes:
        return pickle.dumps(job)

    def kept(self, job: tuple, answer: bytes) -> object:
        return pickle.loads(answer)

    def problem(self, job: tuple, sentence: str) -> object:
        """Raises ClusterError: an audit without one of its trials proves nothing."""
        raise ClusterError(f"The audit of {self.path} stopped, because a trial failed: {sentence}.")


class Trying:
    """Its service: a Worker for each notebook, whose files lie in a temporary folder."""

    def __init__(self, settings: Settings) -> None:
        self.grader = make_grader(settings.seconds, settings.no_sandbox, settings.memory, settings.libraries)
        self.workers: Recent[tuple[Worker, str]] = Recent(MOST_NOTEBOOKS, _remove_files)

    def __call__(self, request: Request) -> Reply:
        if not request.material and request.digest not in self.workers:
            return Reply(lacking=True)
        worker, path = self.workers.of(request.digest, lambda: self._made(request.material))
        result = worker(pickle.loads(request.package))
        if isinstance(result, VivaError):  # it names the file as it is called here
            result = type(result)(str(result).replace(str(worker.path), path))
        return Reply(pickle.dumps(result))

    def _made(self, material: bytes) -> tuple[Worker, str]:
        """The worker for a notebook, and how that is called where it comes from."""
        path, notebook, files, submitted = pickle.loads(material)
        folder = Path(tempfile.mkdtemp(prefix="viva-files-"))
        fill(folder, {Path(path).name: notebook} | {f"files/{name}": data for name, data in files.items()})
        (folder / "files").mkdir(exist_ok=True)
        rehearsals = Rehearsals(submitted=submitted)
        return Worker(self.grader, folder / Path(path).name, rehearsals, folder / "files"), path

    def close(self) -> None:
        self.workers.close()
        self.grader.close()


def _remove_files(worker_key: tuple[Worker, str]) -> None:
    shutil.rmtree(worker_key[0].path.parent, ignore_errors=True)


def _files(data: Path) -> dict[str, bytes]:
    """The files that a notebook's cells find, by their names there."""
    files = {}
    for file in walk(data):
        with contextlib.suppress(OSError):  # its cells do not find it here either
            files[str(file.relative_to(data))] = file.read_bytes()
    return files
