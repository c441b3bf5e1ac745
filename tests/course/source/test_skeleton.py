from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import nbformat
import nbgrader
import pytest

from tests.conftest import PROJECT, load
from tests.test_readme import agree, session, shape
from viva.course.source.skeleton import write_assignment
from viva.verdict import CourseError
from viva_audit.audit import audit

pytestmark = pytest.mark.xdist_group("audit")


@pytest.fixture
def course(tmp_path):
    (tmp_path / "source").mkdir()
    shutil.copy(PROJECT / "source" / "header.ipynb", tmp_path / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_new_assignment_passes_its_audit_and_is_written_like_ours(course, viva):
    said = viva("new", "ps11_my_topic")
    assert said.status == 0, said.err
    path = course / "source" / "ps11_my_topic" / "ps11_my_topic.ipynb"
    assert f"written: {path}" in said.out
    nbformat.validate(nbformat.read(path, as_version=4))
    assert path.read_text(encoding="utf-8").endswith("}\n")

    result = audit(load(course)[0], "ps11_my_topic", no_sandbox=True, workers=2)
    assert result.complaints() == []
    assert [fate.change for fate in result.survivors()] == []
    assert result.passed and result.count("killed") >= 20 and result.points == 6


@pytest.mark.thorough
def test_the_ten_minutes_to_a_release_run_and_print_what_is_shown(course, viva):
    """Commands of viva run inside this process, which spares their start."""
    user_guide = "docs/source/user_guide"
    folder = course / "nbgrader" / user_guide / "source"
    shutil.copytree(Path(nbgrader.__file__).parent / user_guide / "source" / "ps1", folder / "ps1")
    ran = []
    for command, shown in session((PROJECT / "docs" / "authoring.md").read_text(encoding="utf-8")):
        program, *arguments = shlex.split(command)
        if program == "viva":
            said = viva(*arguments)
            status, printed = said.status, said.out
        else:
            said = subprocess.run([program, *arguments], cwd=course, capture_output=True, text=True, check=False)
            status, printed = said.returncode, said.stdout
        assert status == ("  failed" in shown), f"{command}: {printed}"
        assert agree(shape(shown), shape(printed)), f"{command} printed:\n{printed}"
        ran.append(" ".join([program, *arguments[:1]]))
    assert [command for command in ran if command.startswith("viva")] == [
        f"viva {name}" for name in ("new", "audit", "audit", "release", "adopt")
    ]


@pytest.mark.parametrize("name", ["9ps", "a/b", "..", "a b"])
def test_a_name_that_is_none_is_refused(course, name):
    with pytest.raises(CourseError, match="is not a valid assignment name"):
        write_assignment(load(course)[0], name)


def test_nothing_is_overwritten(course, viva):
    write_assignment(load(course)[0], "twice")
    said = viva("new", "twice")
    assert said.status == 2
    assert "exists already; nothing was written" in said.err
    assert viva("new").status == 2
