"""Nothing that a student submits is configuration or code of a command that is typed beside it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.utils.importstring import import_item

from tests.conftest import BIN, SHORT
from viva import cli

MODULES = (
    "ipykernel_launcher ipykernel sitecustomize usercustomize "
    "viva nbgrader numpy pandas matplotlib IPython traitlets sqlalchemy alembic psycopg "
    "watchfiles openpyxl signal json report rubric conftest setup nbgrader_config jupyter_config jupyter_server_config "
    "jupyter_nbconvert_config ipython_config ipython_kernel_config"
).split()
"""Names that Python, Jupyter or a command imports or runs."""
OTHERS = (
    "evil.html evil.htm evil.xhtml evil.svg evil.svgz evil.xml evil.xsl evil.js evil.mjs evil.css evil.mht evil.pdf "
    "evil.hta index.html index.htm INDEX.HTML picture.png.html picture.svg Makefile makefile GNUmakefile setup.cfg "
    "pyproject.toml tox.ini .env .envrc .bashrc .gitattributes .gitmodules .gitconfig .git/config "
    ".git/hooks/pre-commit .vscode/settings.json .jupyter/jupyter_config.py postBuild environment.yml evil.pyc evil.so "
    "evil.desktop evil.sh manifest.json service-worker.js robots.txt .htaccess _config.yml conf.py grades.csv "
    "results.jsonl rubrics.toml"
).split()
"""Names on which a browser, a server, make, git, an editor or a shell acts."""
FOLDERS = (
    f"submitted/ann/{SHORT}",
    f"autograded/ann/{SHORT}",
    f"feedback/ann/{SHORT}",
    f"unmatched/hw/{SHORT}",
    f"attempts/ann/{SHORT}",
    f"release/{SHORT}",
)
MARK = "RAN"


def lay(folder: Path, mark: Path) -> None:
    """What a student could submit so that it runs, or counts, where somebody works in its folder."""
    bad = f"open({str(mark)!r}, 'a').write(__file__ + '\\n')\n"
    (folder / "source" / SHORT).mkdir(parents=True)
    for name in MODULES:
        (folder / f"{name}.py").write_text(bad)
    (folder / "viva" / "commands").mkdir(parents=True)
    (folder / "viva" / "__init__.py").write_text(bad)
    elsewhere = f'{{"CourseDirectory": {{"db_url": "sqlite:///{mark.parent}/other.db", "course_id": "theirs"}}}}'
    for name in ("nbgrader_config", "jupyter_config"):
        (folder / f"{name}.json").write_text(elsewhere)
    (folder / "evil.pth").write_text(f"import os; {bad}")
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"<script>document.title = 'RAN'</script>\nall:\n\ttouch {mark}\n")
    (folder / "pyvenv.cfg").write_text("home = .\n")
    (folder / ".env").write_text("PYTHONSTARTUP=evil.py\n")
    (folder / "matplotlibrc").write_bytes(b"backend: module://report\ntext.usetex: True\n# \xff\n")
    (folder / "alembic.ini").write_text("[alembic]\nscript_location = .\n")
    (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC\n")


@pytest.fixture
def laid(course, tmp_path):
    """A course with such files in each folder that students' files come to, and the file that they would write."""
    for place in FOLDERS:
        lay(course / place, tmp_path / MARK)
    return course, tmp_path / MARK


@pytest.mark.parametrize("place", FOLDERS)
def test_in_every_folder_of_students_files_every_command_has_the_courses_configuration(laid, monkeypatch, place):
    course, mark = laid
    monkeypatch.chdir(course / place)
    for name, (where, _) in cli.subcommands().items():
        command = import_item(where)()
        monkeypatch.setattr(sys, "path", [*sys.path])
        command.initialize([])
        if coursedir := getattr(command, "coursedir", None):
            assert (coursedir.root, coursedir.course_id) == (str(course), "viva"), name
            assert coursedir.db_url == f"sqlite:///{course}/gradebook.db", name
        assert not mark.exists(), (name, mark.read_text())


@pytest.mark.parametrize("named", [True, False])
def test_a_students_folder_can_be_no_course_named_or_not(laid, monkeypatch, capsys, named):
    course, mark = laid
    folder = course / FOLDERS[0]
    if not named:  # it was taken out of its course
        folder = (course / "submitted").rename(course.parent / "submitted") / "ann" / SHORT
    monkeypatch.chdir(folder)
    for name, (where, _) in cli.subcommands().items():
        with contextlib.suppress(SystemExit):
            import_item(where)().initialize([f"--course-dir={folder}"] if named and name not in ("check",) else [])
        assert not mark.exists(), (name, mark.read_text())
        said = capsys.readouterr().err
        if name in ("report", "grade", "export", "watch", "feedback", "release", "collect"):
            expected = (
                "so its configuration was not read. Name a course folder with"
                if named
                else "was not run, because a student or another user may have written it."
            )
            assert expected in said and "Traceback" not in said, name


def test_a_course_of_ones_own_below_such_a_name_is_read_where_it_is_named(course, tmp_path, monkeypatch):
    (tmp_path / "submitted").mkdir()
    own = course.rename(tmp_path / "submitted" / "course")
    monkeypatch.chdir(own)
    command = import_item(cli.subcommands()["report"][0])()
    command.initialize(["--course-dir=."])
    assert command.coursedir.course_id == "viva"


def test_a_configuration_that_names_a_students_folder_as_the_course_is_a_mistake_in_a_sentence(
    laid, monkeypatch, capsys
):
    course, mark = laid
    config = course / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.root = {str(course / FOLDERS[0])!r}\n")
    monkeypatch.chdir(course)
    with pytest.raises(SystemExit):
        import_item(cli.subcommands()["report"][0])().initialize([])
    said = capsys.readouterr().err
    assert (
        "so its configuration was not read. Name a course folder with" in said
        and "Traceback" not in said
        and not mark.exists()
    )


TYPED = (
    "report",
    "watch --status",
    "deadlines",
    f"grade {SHORT}",
    f"feedback {SHORT}",
    f"export {SHORT}",
    "rubric",
    "doctor",
    "doctor --run-config",
    "init",
    "completion bash",
    f"release {SHORT} --no-audit",
    f"package gradescope {SHORT}",
    "report --help-all",
)


def test_what_is_typed_in_a_students_folder_runs_and_imports_nothing_of_it(laid):
    course, mark = laid
    for words in TYPED:
        done = subprocess.run(
            [BIN / "viva", *words.split()], cwd=course / FOLDERS[0], capture_output=True, text=True, env=os.environ
        )
        assert not mark.exists(), (words, mark.read_text())
        assert "Traceback" not in done.stderr and done.returncode in (0, 1, 2), (words, done.stderr)
        if words.startswith(("report", "grade", "export", "watch", "deadlines")):
            assert done.returncode == 0, (words, done.stdout, done.stderr)
