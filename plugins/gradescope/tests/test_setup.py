"""setup.sh for real: an environment is made from the zip, offline, and grades there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from plugins.gradescope.tests.conftest import unpack
from plugins.gradescope.tests.reader import read
from tests.course.regrade.test_regrading import TINY

pytestmark = pytest.mark.xdist_group("gradescope")

SHIM = """#!/bin/sh
# The image's Python; an environment that it makes finds the dependencies without an index, setuptools among them.
if [ "$2" = venv ]; then
    inside="$3/lib/{version}/site-packages"
    {python} -m venv "$3" && echo {libraries} >"$inside/dependencies.pth" && rm -rf "$inside"/setuptools*
else
    exec {python} "$@"
fi
"""
OLD = '#!/bin/sh\n[ "$1" != -c ]\n'
"""A Python that says no to every question: it is too old."""


@pytest.fixture
def place(tiny):
    place = unpack(tiny.bundle)
    yield place
    shutil.rmtree(place)


def setup(place: Path, path: str, **variables: str) -> subprocess.CompletedProcess:
    known = {"PATH": path, "HOME": "/nonexistent", "VIVA_AUTOGRADER": str(place), "VIVA_HOME": str(place / "home")}
    command = ["/bin/bash", place / "source" / "setup.sh"]
    return subprocess.run(command, env=known | variables, cwd=place, capture_output=True, text=True, check=False)


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_an_image_whose_python_is_too_old_is_refused_with_what_to_choose(place, tmp_path):
    program(tmp_path / "bin", "python3", OLD)
    (tmp_path / "bin" / "chmod").symlink_to(shutil.which("chmod"))
    done = setup(place, str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stderr.startswith("viva: this image has no Python 3.11 or newer. Choose another base image")
    assert "Ubuntu 24.04" in done.stderr
    assert not (place / "home").exists()


def test_the_zip_alone_makes_an_environment_in_which_a_submission_is_graded(place, tiny, tmp_path):
    libraries = place / "libraries" / "site-packages"  # those that are installed here, without this project
    here = Path(sysconfig.get_path("purelib"))
    shutil.copytree(here, libraries, copy_function=_link, ignore=shutil.ignore_patterns("*nbviva*", "__pycache__"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shim = SHIM.format(python=sys.executable, libraries=libraries, version=version)
    program(tmp_path / "bin", "python3", shim)
    done = setup(place, f"{tmp_path / 'bin'}:{os.defpath}", PIP_NO_INDEX="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Protection: the code ran with" in done.stdout
    assert (place / "home" / "lib" / version / "site-packages" / "viva_gradescope" / "container.py").is_file()
    assert {path.stat().st_mode & 0o077 for path in (place / "source").rglob("*")} == {0}
    shutil.rmtree(place / "submission")
    shutil.copytree(tiny.root / "submitted" / "right" / TINY, place / "submission")
    known = {"PATH": os.defpath, "VIVA_AUTOGRADER": str(place), "VIVA_HOME": str(place / "home")}
    done = subprocess.run([place / "run_autograder"], env=known, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = read(place)
    assert found.score == tiny.scores()["right"] == 6, done.stdout + done.stderr


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
