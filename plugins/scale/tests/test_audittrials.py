"""An audit on a cluster comes to what it comes to on this machine."""

from __future__ import annotations

import json
import shutil
import socket

import pytest

from plugins.audit.tests.test_audit import audited, course, small  # noqa: F401  (fixtures)
from plugins.scale.tests.cluster import Dask
from tests.conftest import load
from viva.verdict import BlueprintError, ClusterError
from viva_audit.audit import audit
from viva_audit.auditpage import proven, record
from viva_scale.audittrials import Trials, Trying
from viva_scale.clusteraddress import Cluster
from viva_scale.clustergraders import ClusterGraders
from viva_scale.workerprocess import Settings

TIMES = ("seconds", "slowest", "limit", "megabytes")
"""What differs from run to run on one machine, too."""

pytestmark = pytest.mark.slow


@pytest.fixture
def dask(tmp_path):
    with Dask(tmp_path / "dask") as cluster:
        yield cluster


def timeless(value):
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in TIMES}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def test_workers_that_are_killed_and_added_change_nothing_of_an_audit(course, dask):  # noqa: F811
    (course / "source/small/more").mkdir()
    (course / "source/small/more/table.txt").write_text("1 2")
    here = audited(course)
    address, told, seen = dask.schedule(), [], []
    workers = [dask.work(), dask.work()]

    def disturb(done: int, total: int) -> None:
        seen.append((done, total))
        if done in (4, 20):
            victim = workers.pop(0)
            victim.kill()
            victim.wait()
            workers.append(dask.work())

    there = audit(
        load(course)[0],
        "small",
        remote=ClusterGraders(Cluster(address=address, wait=100)),
        tell=told.append,
        progress=disturb,
    )
    assert told == [] and seen[-1][0] == seen[-1][1] > 30
    assert there.passed and there.sandboxed
    assert timeless(json.loads(json.dumps(there.record()))) == timeless(json.loads(json.dumps(here.record()))) | {
        "sandboxed": True
    }


def test_what_is_wrong_with_a_notebook_is_told_in_the_same_words(course, dask):  # noqa: F811
    address = dask.schedule()
    dask.work()
    path = course / "source/small/small.ipynb"
    path.write_text(path.read_text().replace("import numpy as np", "import os; os._exit(3)"))
    said = []
    for how in ({"no_sandbox": True, "workers": 1}, {"remote": ClusterGraders(Cluster(address=address))}):
        with pytest.raises(BlueprintError) as error:
            audit(load(course)[0], "small", **how)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert str(path) in said[0] and "ends its process, with status 3" in said[0]


def test_a_release_is_proven_on_a_cluster_and_refused_where_there_is_none(course, viva, dask):  # noqa: F811
    shutil.copytree(course / "source/small", course / "source/other")  # a second one is not tried in vain
    (course / "source/other/small.ipynb").rename(course / "source/other/other.ipynb")
    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = f"127.0.0.1:{server.getsockname()[1]}"
    said = viva("audit", f"--cluster={nobody}")
    assert (said.status, said.out) == (2, "")
    assert said.err.count("No cluster answers at") == 1 and "Nothing was sent." in said.err
    assert record(load(course)[0], "small") == {}

    address = dask.schedule()
    dask.work(lie="viva.ENGINE = 16")
    said = viva("release", "small", f"--cluster={address}")
    assert said.status == 2 and not (course / "release").exists()
    assert "it has other versions: Viva's engine 16 there and" in said.out
    assert "No worker can be used. The reasons are above" in said.err

    dask.work(threads=2)
    said = viva("release", "small", f"--cluster={address}")
    assert said.status == 0, said.text
    assert proven(load(course)[0], "small")
    assert (course / "release/small/small.ipynb").is_file()


def test_a_trial_that_no_worker_can_do_ends_the_audit_in_a_sentence(course):  # noqa: F811
    path = course / "source/small/small.ipynb"
    with pytest.raises(ClusterError, match=r"The audit of .*small\.ipynb stopped, .*: it broke off"):
        Trials(Cluster(address="local:1"), path, path.parent, 30.0, 0.0).problem((), "it broke off")


def test_a_worker_knows_the_files_that_students_submit_as_an_audit_here_does(course):  # noqa: F811
    path = course / "source/small/small.ipynb"
    task = Trials(Cluster(address="local:1"), path, path.parent, 30.0, 0.0, frozenset({"own.txt"}))
    service = Trying(Settings(Trials.service, 30.0, True, 0, 0.0, (), ()))
    try:
        worker, called = service._made(task.notebook.data)
        assert (worker.rehearsals.submitted, called) == ({"own.txt"}, str(path))
        shutil.rmtree(worker.data)
    finally:
        service.close()
