"""Six things that are wrong with a cluster or a gradebook, one after the other, in one course.

Each is told in a sentence and loses nothing; when it is mended, the same command goes on.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text

from plugins.scale.tests.cluster import Dask, filed
from tests.conftest import BIN, load
from tests.faults import TINY, in_private_mounts, recorded, require_tidy, timeless
from tests.faults import scores as scores_here
from viva.course.regrade.trialcopy import copy_rows

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]


@pytest.fixture
def stored(few, postgres, tmp_path) -> tuple[Path, str]:
    """A course that was handed in, whose gradebook is on a server; and its address."""
    course, url = shutil.copytree(few[0], tmp_path / "course"), postgres.create("faults")
    with load(course)[0].gradebook() as old, Gradebook(url, "viva") as new:
        copy_rows(old, new)
    (course / "gradebook.db").unlink()
    return course, url


def do(url: str, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.mark.timeout(600)
def test_what_is_wrong_is_a_sentence_that_loses_nothing_and_the_same_command_goes_on(stored, few, tmp_path):
    course, url = stored
    (tmp_path / "tmp").mkdir()

    def grade(address: str, book: str = url) -> tuple[int, str]:
        command = [BIN / "viva", "grade", f"--cluster={address}", f"--CourseDirectory.db_url={book}"]
        environment = os.environ | {"TMPDIR": str(tmp_path / "tmp"), "COLUMNS": "200"}
        found = subprocess.run(
            [*command, "--Cluster.wait=2"], cwd=course, env=environment, capture_output=True, text=True, timeout=250
        )
        return found.returncode, found.stdout + found.stderr

    def require_refused(found: tuple[int, str], *sentences: str) -> None:
        status, said = found
        assert status == 2 and "Traceback" not in said, said
        for sentence in sentences:
            assert sentence in said
        assert len(said.splitlines()) == len(sentences), said
        assert not recorded(course) and filed(course) == {}
        require_tidy(course)

    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = f"127.0.0.1:{server.getsockname()[1]}"
    require_refused(grade(nobody), f"No cluster answers at tcp://{nobody} (")

    with Dask(tmp_path / "dask") as dask:
        address = dask.schedule()
        require_refused(grade(address), "The cluster has no usable worker, and none connected in 2 s. Start one with")

        odd = dask.work(lie="platform.python_version_tuple = lambda: ('3', '10', '2')")
        sentences = "it has other versions: Python 3.10 there and 3.1", "No worker can be used. The reasons are above"
        require_refused(grade(address), *sentences)
        odd.kill()
        odd.wait()

        full = tmp_path / "full"
        full.mkdir()
        within = in_private_mounts(tmp_path, f"mount -t tmpfs -o size=256k tmpfs {full}")
        small = dask.work(within=within, TMPDIR=str(full))
        sentences = (
            f"was not used: The disk for temporary files ({full}) has only",
            ("The cluster has no usable worker, and none"),
        )
        require_refused(grade(address), *sentences)
        small.kill()
        small.wait()

        dask.work()
        do(url, "ALTER TABLE grade RENAME COLUMN extra_credit TO another")
        require_refused(grade(address), "is from an older nbgrader: its table grade has no column extra_credit.")
        do(url, "ALTER TABLE grade RENAME COLUMN another TO extra_credit")

        do(url, "CREATE ROLE reader LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        require_refused(grade(address, url.replace("viva@", "reader@")), "its database user lacks permissions")

        status, said = grade(address)
        assert status == 0, said
    assert timeless(course) == timeless(few[1]) and filed(course) == filed(few[1])
    require_tidy(course)
    with Gradebook(url, "viva") as book:
        scores = {one.student.id: (one.score, one.needs_manual_grade) for one in book.assignment_submissions(TINY)}
    assert scores == scores_here(few[1])
