"""What students do every day works in the sandbox, also where the environment lies behind links."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from viva.engine import everyday
from viva.engine.grading import Grader

pytestmark = pytest.mark.usefixtures("processes")

TRIED = """
import contextlib, sys
sys.path.insert(0, {project!r})
from viva.engine import everyday
from viva.engine.session import Pair
from viva.sandbox.confinement import Sandbox
around = Sandbox.for_candidate({known}), Sandbox.for_examiner({known})
with contextlib.closing(Pair(60.0, around, ("numpy", "matplotlib.pyplot"))) as pair:
    print(sys.prefix, everyday.failures(pair))
"""


@pytest.mark.parametrize("known", ["", pytest.param("private_tmp=False", marks=pytest.mark.slow)])
def test_all_of_it_works_where_the_environment_is_a_link(tmp_path, known):
    """Matplotlib resolves the path of its fonts, which was not in the root folder of a candidate."""
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "own").symlink_to(Path(sys.prefix))
    (tmp_path / ".venv").symlink_to("environments/own")
    command = [str(tmp_path / ".venv" / "bin" / "python"), "-c", TRIED.format(project=str(PROJECT), known=known)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split(maxsplit=1) == [str(tmp_path / ".venv"), "{}\n"]


def test_what_does_not_work_is_named_with_the_error(grader: Grader, monkeypatch):
    monkeypatch.setitem(everyday.CELLS, "divide", "1 / 0")
    assert everyday.failures(grader) == {"divide": "ZeroDivisionError: division by zero"}
