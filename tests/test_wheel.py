"""The wheel, as students and other courses install it: alone, in an environment that had nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest

import viva
from tests.conftest import PROJECT, SHORT, hand_in
from tests.test_doors import every_door
from viva import doors

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel"), pytest.mark.timeout(600)]


def run(*command: object, cwd: Path, status: int = 0, **options) -> str:
    result = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False, **options
    )
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel that `make wheel` builds, out of a copy of the package."""
    copy = tmp_path_factory.mktemp("wheel") / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "Makefile", "constraints.txt"):
        shutil.copy(PROJECT / name, copy)
    for name in ("viva", "source", "answers", "release", "tests", "student", "plugins"):
        shutil.copytree(PROJECT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / ".venv").symlink_to(sys.prefix)
    run("make", "--old-file=setup", "wheel", cwd=copy)
    (built,) = (copy / "dist").glob("nbviva-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """The programs of an environment in which the wheel was installed, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(folder, with_pip=True)
    env = os.environ | {"PIP_CONSTRAINT": str(PROJECT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(folder / "bin" / "pip", "install", "--quiet", wheel, cwd=folder, env=env)
    return folder / "bin"


def test_the_wheel_holds_the_package_and_no_course(wheel):
    about = f"nbviva-{viva.__version__}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {"viva", "viva_check", f"{about}.dist-info", f"{about}.data"}
    assert {name.partition("/")[0] for name in names} == tops
    for package, root in {"viva/": PROJECT, "viva_check/": PROJECT / "student"}.items():
        files = {str(path.relative_to(root)) for path in (root / package).rglob("*.*") if path.suffix != ".pyc"}
        assert {name for name in names if name.startswith(package)} == files
    assert not [name for name in names if name.endswith((".ipynb", ".db"))]


def test_both_wheels_bring_the_button_of_jupyterlab(wheel):
    button = PROJECT / "student" / "share"
    files = {str(path.relative_to(button.parent)) for path in button.rglob("*") if path.is_file()}
    for built in (wheel, *wheel.parent.glob("nbviva_check-*.whl")):
        with zipfile.ZipFile(built) as archive:
            data = {name.partition(".data/data/")[2] for name in archive.namelist() if ".data/" in name}
        assert data == files


def test_what_students_are_told_to_install_is_what_is_built(wheel):
    (small,) = wheel.parent.glob("nbviva_check-*.whl")
    told = {"docs/students.md": wheel, "README.md": small, "docs/students-check.md": small, "docs/colab.md": small}
    for page, built in told.items():
        assert built.name in (PROJECT / page).read_text(encoding="utf-8"), page
    names = {name for door in every_door() for name in door.packages.values()}
    assert {doors.wheel(name) for name in (*names, "nbviva", "nbviva-check")} <= {
        path.name for path in wheel.parent.iterdir()
    }


def test_a_student_with_the_wheel_and_a_notebook_checks_it(programs, tmp_path):
    given = PROJECT / "release" / SHORT / "scaled_attention.ipynb"
    notebook = shutil.copy(given, tmp_path / "scaled_attention.ipynb")
    said = run(programs / "viva", "check", notebook, cwd=tmp_path, status=1)
    assert "not done yet" in said
    assert "visible checks pass" in said


@pytest.fixture(scope="module")
def small(wheel, tmp_path_factory) -> Path:
    """An environment in which the check alone was installed."""
    (built,) = wheel.parent.glob("nbviva_check-*.whl")
    folder = tmp_path_factory.mktemp("small") / "environment"
    venv.create(folder, with_pip=True)
    env = os.environ | {"PIP_CONSTRAINT": str(PROJECT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(folder / "bin" / "pip", "install", "--quiet", "--only-binary=:all:", built, cwd=folder, env=env)
    return folder


NEEDS_NUMPY = """import numpy as np
def double(x):
    return 2 * np.asarray(x)"""


def test_the_check_alone_is_a_small_install_and_checks_in_both_ways(small, tmp_path):
    installed = {path.name.partition("-")[0].lower() for path in small.rglob("*.dist-info")}
    assert not installed & {"nbgrader", "jupyterlab", "notebook", "jupyter_server", "scipy", "pandas", "matplotlib"}
    own = sum(path.stat().st_size for path in small.rglob("*") if path.suffix != ".pyc" and path.is_file()
              and not {"pip", "setuptools", "numpy", "numpy.libs"} & set(path.parts))  # fmt: skip
    assert own < 80 * 2**20, "beside NumPy, which the notebooks need, and pip"
    about = {
        "grade_id": "double",
        "grade": False,
        "locked": False,
        "solution": True,
        "schema_version": 3,
        "task": False,
    }
    test = about | {"grade_id": "test_double", "grade": True, "locked": True, "solution": False, "points": 1}
    cells = [nbformat.v4.new_code_cell(NEEDS_NUMPY, id="double", metadata={"nbgrader": about})]
    cells += [nbformat.v4.new_code_cell("assert double(2) == 4", id="test", metadata={"nbgrader": test})]
    other = nbformat.v4.new_code_cell("import not_there", id="other")
    nbformat.write(nbformat.v4.new_notebook(cells=[other, *cells]), tmp_path / "mine.ipynb")
    for more in ([], ["--portable"]):
        said = run(small / "bin" / "viva", "check", "mine.ipynb", *more, cwd=tmp_path)
        assert "1 of 1 visible check passes." in said
        assert "Your own cell (number 1 in the notebook) needs not_there, which is not installed." in said
        assert (
            "Ask your instructor how to install it, then check again." in said and "pip install not_there" not in said
        )
    said = run(small / "bin" / "viva", "grade", cwd=tmp_path, status=2)
    asked = "'viva grade' needs the complete Viva. Ask your instructor for its wheel: "
    assert said == f"{asked}{doors.install('nbviva')}\n"


def test_the_core_alone_goes_the_whole_way_and_names_the_packages_that_it_lacks(programs, wheel, tmp_path):
    course, viva = tmp_path / "course", programs / "viva"
    run(viva, "init", "course", cwd=tmp_path)
    installed = {path.name.partition("-")[0].lower() for path in programs.parent.rglob("*.dist-info")}
    others = {"openpyxl", "watchfiles", "distributed", "cryptography", "psycopg", "nbviva_term", "nbviva_audit"}
    assert not installed & others
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.Exchange.root = "/tmp"\n')
    audit = doors.install("nbviva-audit")
    assert f"{audit}. Or do it without an audit: add --no-audit." in run(viva, "release", cwd=course, status=2)
    run(viva, "release", "ps1", "--no-audit", cwd=course)
    hand_in(course, "anna", assignment="ps1", answer="right/loops")
    for command in ("grade", "feedback", "report", "export"):
        run(viva, command, "ps1", cwd=course)
    assert (course / "feedback" / "anna" / "ps1").is_dir() and "anna" in (course / "grades.csv").read_text()
    assert "MISSING" not in run(viva, "doctor", cwd=course)
    packages = {"roster": "term", "collect": "term", "watch": "watch", "package": "gradescope", "adopt": "audit"}
    for command, package in packages.items():
        said = run(viva, command, cwd=course, status=2)
        assert said.strip().endswith(
            f"This needs another package. Install its wheel: {doors.install(f'nbviva-{package}')}"
        )
    for words, package in {"export --as=canvas": "term", "grade --cluster=local:2": "scale"}.items():
        assert doors.install(f"nbviva-{package}") in run(viva, *words.split(), cwd=course, status=2)
    run(programs / "pip", "install", "--quiet", "--no-deps", *wheel.parent.glob("nbviva_audit-*.whl"), cwd=course)
    try:
        (given,) = (PROJECT / "source" / SHORT).glob("*.ipynb")
        run(viva, "adopt", given, f"--assignment={SHORT}", cwd=course)
        run(viva, "release", "ps1", cwd=course)
        assert (course / "report" / "audit" / "ps1.html").is_file(), "what is released was audited"
    finally:
        run(programs / "pip", "uninstall", "--quiet", "--yes", "nbviva-audit", cwd=course)
