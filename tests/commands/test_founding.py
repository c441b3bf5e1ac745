"""A course of one's own from an empty folder, and what an nbgrader course lacks."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from tests.conftest import BIN, PROJECT
from viva.commands.configfile import said_in
from viva.commands.founding import found, plan
from viva.configuration import LINES, RULES, missing
from viva.verdict import CourseError

STOCK = 'c = get_config()\nc.CourseDirectory.course_id = "stock"\n'


def run(folder, *arguments: str, status: int = 0) -> str:
    environment = os.environ | {"COLUMNS": "200", "JUPYTER_DATA_DIR": str(folder / "data")}
    command = [BIN / "viva", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == status, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout + result.stderr


def settings(folder) -> Config:
    return Config(PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config())


def files(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("processes")
def test_what_was_lacking_is_said_to_be_there_once_it_was_written(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(STOCK)
    lacking = [line for line in run(tmp_path, "init", status=1).splitlines() if "(missing: " in line]
    said = run(tmp_path, "init", "--write")
    assert f"The file had none of these {len(lacking)} settings, and has them now: " in said and lacking
    assert "missing" not in said
    assert "is a complete course." in run(tmp_path, "init")


@pytest.mark.slow
def test_a_new_course_is_proven_released_and_graded_with_what_the_readme_says(tmp_path):
    said = run(tmp_path, "init", "my course")
    course = tmp_path / "my course"
    assert "viva audit && viva release" in said
    assert len((course / "Makefile").read_text().splitlines()) <= 10
    assert "MISSING" not in run(course, "doctor")
    run(course, "audit")
    run(course, "release")
    student = course / "submitted" / "anna" / "ps1"
    student.mkdir(parents=True)
    (student / "ps1.ipynb").write_bytes((course / "release" / "ps1" / "ps1.ipynb").read_bytes())
    made = subprocess.run(
        ["make", "grade", f"VIVA={BIN / 'viva'}"], cwd=course, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    run(course, "feedback")
    run(course, "export")
    assert "anna" in (course / "grades.csv").read_text()
    assert "is a complete course" in run(course, "init")


def test_a_new_course_takes_no_points_for_lateness_until_somebody_says_so(tmp_path):
    found(plan(tmp_path / "mine"))
    assert "LatePolicy" not in settings(tmp_path / "mine")


@pytest.mark.parametrize("name", ["term [1]", "wh?t", "a*"])
def test_no_course_is_founded_where_nbgrader_would_find_nothing(tmp_path, name):
    with pytest.raises(CourseError, match="nbgrader reads these as a pattern"):
        plan(tmp_path / name)


def test_a_new_course_has_all_rules_and_its_name(tmp_path):
    written = found(plan(tmp_path / "algebra (2)"))
    config = settings(tmp_path / "algebra (2)")
    assert missing(config) == [] and config.CourseDirectory.course_id == "algebra_2"
    assert {path.name for path in written} >= {
        "nbgrader_config.py",
        "README.md",
        "Makefile",
        "header.ipynb",
        "ps1.ipynb",
    }
    assert plan(tmp_path / "algebra (2)").lacking == ()


@pytest.mark.slow
def test_in_an_nbgrader_course_nothing_is_changed_until_it_is_said(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(STOCK)
    before = files(tmp_path)
    said = run(tmp_path, "init", status=1)
    assert files(tmp_path) == before
    assert all(rule.without[1:] in said for rule in RULES) and LINES in said
    assert "would be written" in run(tmp_path, "init", "--write", "--dry-run") and files(tmp_path) == before
    run(tmp_path, "init", "--write")
    changed = files(tmp_path)
    assert changed.pop("nbgrader_config.py").startswith(STOCK.encode())
    before.pop("nbgrader_config.py")
    assert changed == before
    assert missing(settings(tmp_path)) == []
    again = files(tmp_path)
    assert "is a complete course" in run(tmp_path, "init", "--write") and files(tmp_path) == again


def test_a_course_without_a_configuration_gets_one(tmp_path):
    (tmp_path / "source").mkdir()
    (path,) = found(plan(tmp_path))
    assert path.name == "nbgrader_config.py"
    assert missing(settings(tmp_path)) == [] and plan(tmp_path).lacking == ()


def test_what_the_course_says_otherwise_is_no_lack(tmp_path):
    late = "nbgrader.plugins.latesubmission.LateSubmissionPlugin"
    (tmp_path / "nbgrader_config.py").write_text(f"{STOCK}{LINES}\nc.AssignLatePenalties.plugin_class = '{late}'\n")
    assert plan(tmp_path).lacking == ()


RUNS = "from pathlib import Path\nPath(__file__).with_name('ran').write_text('x')\n"


@pytest.mark.thorough
@pytest.mark.parametrize("options", [[], ["--write"], ["--write", "--dry-run"]])
def test_the_configuration_of_a_strangers_course_is_read_and_not_run(tmp_path, options):
    (tmp_path / "source" / "inner").mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text(RUNS + STOCK)
    said = run(tmp_path, "init", *options, status=0 if options else 1)
    assert "Autograde.autograde_preprocessors" in said
    assert run(tmp_path / "source" / "inner", "init", status=2)
    assert not (tmp_path / "ran").exists()


def test_what_a_configuration_says_is_read_in_each_form(tmp_path):
    path = tmp_path / "nbgrader_config.py"
    path.write_text(
        "from nbgrader.plugins import Late\nconfig = get_config()\nconfig.Late.hours, other = 2, 3\n"
        "if True:\n    config.Late.plugin = Late\nconfig.Late.steps = ['a', Late]\nconfig.Late.steps += ['b']\n"
        "config.Late.days = 3\nconfig.Late.days = 4\n"
    )
    assert said_in(path) == {"Late": {"plugin": "Late", "steps": ["a", "Late"], "days": 4}}
    assert said_in(tmp_path / "nowhere.py") == {}


@pytest.mark.usefixtures("processes")
def test_a_dry_run_writes_nothing_and_json_says_what_would_be(tmp_path):
    (document,) = [json.loads(run(tmp_path, "init", "new", "--dry-run", "--json").partition("\nwould")[0])]
    assert str(tmp_path / "new" / "nbgrader_config.py") in document["written"]
    assert not (tmp_path / "new").exists()


def test_where_no_course_can_be_a_sentence_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="is a file"):
        plan(tmp_path / "file")
    (tmp_path / "busy").mkdir()
    (tmp_path / "busy" / "Makefile").write_text("all:\n")
    with pytest.raises(CourseError, match="already has Makefile"):
        plan(tmp_path / "busy")
    found(plan(tmp_path / "course"))
    fake = tmp_path / "course" / "submitted" / "ann" / "hw"  # a student's folder, with what makes a course
    (fake / "source").mkdir(parents=True)
    (fake / "nbgrader_config.py").write_text("")
    with pytest.raises(CourseError, match="is inside the course"):
        plan(fake)
    with pytest.raises(CourseError, match="is inside the course"):
        plan(tmp_path / "course" / "inner")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "nbgrader_config.py").write_text("c = get_config(\n")
    with pytest.raises(CourseError, match=r"cannot be read: .*SyntaxError"):
        plan(tmp_path / "broken")


def test_git_ignores_in_a_course_what_it_ignores_in_ours(tmp_path):
    ours = (PROJECT / ".gitignore").read_text().partition("# made by the flow")[2].splitlines()
    theirs = plan(tmp_path / "course").files[".gitignore"].splitlines()
    assert {line for line in ours if line and not line.startswith("#")} <= set(theirs)


def test_what_cannot_be_written_whole_leaves_no_part_of_a_course(tmp_path):
    """A part, with a configuration, was called a complete course by the next 'viva init'."""
    for folder in (tmp_path, tmp_path / "new" / "course"):
        planned = plan(folder)
        planned.files["submitted/.gitignore"] = "\udcff"  # cannot be encoded, as on a full disk it cannot be written
        with pytest.raises(UnicodeEncodeError):
            found(planned)
        assert not list(tmp_path.iterdir())
    (tmp_path / "answers" / "ps1").mkdir(parents=True)
    with pytest.raises(CourseError, match="answers/ps1 exists already; nothing was written"):
        found(plan(tmp_path))
    assert [path.name for path in tmp_path.rglob("*")] == ["answers", "ps1"]
