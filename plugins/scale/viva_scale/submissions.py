"""A batch on a cluster: submissions go to worker processes as packages, and the results are filed.

``Grading`` is the same, seen from a worker process.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from viva.course.examining.graders import new_grader
from viva.course.grading.filing import Filing
from viva.course.grading.marking import Job, Marked, attempt
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed, grade
from viva.engine.examination import Examination
from viva.submission.packing import pack
from viva.verdict import VivaError
from viva_scale.clusteraddress import Cluster
from viva_scale.workerprocess import Known, Recent, Reply, Request, Settings

MOST_MATERIALS = 16


class Submissions:
    """The task: a Job is answered with a Marked, as by a worker of this machine."""

    service = "viva_scale.submissions.Grading"

    def __init__(self, cluster: Cluster, filing: Filing, seconds: float, budget: float) -> None:
        """What was graded is put away by ``filing``; a cell may take ``seconds``, a notebook ``budget``."""
        self.cluster, self.filing, self.seconds, self.budget = cluster, filing, seconds, budget
        self.materials: dict[Path, tuple[Known, Material]] = {}

    def refusal(self, job: Job) -> str:
        return str(job.material) if isinstance(job.material, VivaError) else ""

    def known(self, job: Job) -> Known:
        return self._about(job)[0]

    def _about(self, job: Job) -> tuple[Known, Material]:
        """The material of an assignment that is not refused, as bytes and read."""
        assert isinstance(job.material, Path)
        if job.material not in self.materials:
            data = job.material.read_bytes()
            self.materials[job.material] = Known(data), Material.from_bytes(data)
        return self.materials[job.material]

    def limit(self, job: Job) -> float:
        _, material = self._about(job)
        examinations = [
            examination for examination in material.examinations.values() if isinstance(examination, Examination)
        ]
        return self.cluster.limit(sum(examination.budget(self.seconds, self.budget) for examination in examinations))

    def package(self, job: Job) -> bytes:
        return pack(job.submission)

    def kept(self, job: Job, answer: bytes) -> Marked:
        """What a worker told, after the graded notebooks are put where they belong."""
        try:
            marked = msgspec.msgpack.decode(answer, type=Marked)
        except msgspec.DecodeError as error:
            return Marked(problem=f"its worker sent an unreadable reply: {error}")
        passed = marked.passed
        if passed is None or passed.refusal:
            return marked
        submission, (_, material) = job.submission, self._about(job)
        places = {result and (result.assignment, result.student) for result in (passed.record, passed.graded)}
        if (
            places != {(submission.assignment, submission.student)}
            or not passed.notebooks.keys() <= material.released.keys()
        ):
            return Marked(problem="its worker sent the reply to another request")
        return attempt(
            f"{submission.assignment}/{submission.student}", lambda _: self.filing.add(submission, passed, material)
        )

    def problem(self, job: Job, sentence: str) -> Marked:
        return Marked(problem=sentence)


class Grading:
    """Its service: a warm grader, and the materials that it knows."""

    def __init__(self, settings: Settings) -> None:
        self.grader = new_grader(
            settings.seconds, settings.no_sandbox, settings.memory, settings.budget, settings.libraries, settings.hidden
        )
        self.materials: Recent[Material] = Recent(MOST_MATERIALS)
        self.learnt: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        if not request.material and request.digest not in self.materials:
            return Reply(lacking=True)
        faults: list[OSError | MemoryError] = []
        marked = attempt("submission", lambda log: self._grade(request, faults, log))
        unfit = ": ".join(filter(None, (type(faults[0]).__name__, str(faults[0])))) if faults else ""
        return Reply(msgspec.msgpack.encode(marked), unfit)

    def _grade(self, request: Request, faults: list, log: logging.Logger) -> Passed:
        try:
            material = self.materials.of(request.digest, lambda: Material.from_bytes(request.material))
            if request.digest not in self.learnt:
                for examination in material.examinations.values():
                    if isinstance(examination, Examination):
                        self.grader.learn(examination)
                self.learnt.add(request.digest)
            return msgspec.msgpack.decode(grade(request.package, material, self.grader, log), type=Passed)
        except (OSError, MemoryError) as error:
            faults.append(error)
            raise

    def close(self) -> None:
        self.grader.close()
