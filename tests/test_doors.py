"""What other packages add: real distributions, installed beside Viva, whose files come from the page for authors."""

from __future__ import annotations

import ast
import csv
import importlib
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import PROJECT, SHORT, hand_in
from tests.course.regrade.test_regrading import TINY, write_source
from tests.oral import thinned
from viva import __version__, doors
from viva.pages.additions import page_sentences
from viva.verdict import CourseError

PAGE = (PROJECT / "docs" / "extending.md").read_text(encoding="utf-8")
PLUGINS = {path.parent.name: path.parent for path in PROJECT.glob("plugins/*/pyproject.toml")}


def examples() -> dict[str, str]:
    """The package's files on the page: modules by the module that the entry points beside them name."""
    blocks = re.findall(r"```(toml|python)\n(.*?)```", PAGE, re.DOTALL)
    points = "\n".join(text[text.index("[project.entry-points") :] for kind, text in blocks if kind == "toml")
    modules = list(dict.fromkeys(re.findall(r'"(viva_\w+):', points)))
    groups: dict[str, str] = {}  # the page names a door twice
    for group, lines in re.findall(r"(\[project\.entry-points.+?\])\n([^\[]*)", points):
        groups[group] = groups.get(group, "") + lines.strip() + "\n"
    points = "\n".join(f"{group}\n{lines}" for group, lines in groups.items())
    codes = [text for kind, text in blocks if kind == "python"]
    return {"pyproject.toml": points} | {f"{name}.py": code for name, code in zip(modules, codes, strict=True)}


def install(site: Path, files: dict[str, str], name: str = "viva-examples") -> None:
    """A distribution as pip leaves it in a folder of packages."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = re.sub(r'\[project\.entry-points\."(.+?)"\]', r"[\1]", files["pyproject.toml"])
    (about / "entry_points.txt").write_text(points.replace('"', ""))
    for path, text in files.items():
        if path.endswith(".py"):
            (site / path).write_text(text)


class Environment:
    """A fresh environment of Python's, which finds what is installed in this one, and more."""

    def __init__(self, folder: Path, course: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python, self.course = folder / "bin" / "python", course
        (self.site,) = folder.glob("lib/python*/site-packages")
        ours = [path for path in sys.path if "site-packages" in path]
        (self.site / "ours.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in ours))

    def run(self, *words: str, status: int = 0) -> str:
        """What a command says."""
        environment = os.environ | {"COLUMNS": "200"}
        done = subprocess.run(
            [self.python, "-m", "viva", *words],
            cwd=self.course,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def fresh(course, tmp_path) -> Environment:
    return Environment(tmp_path / "fresh", course)


def every_door() -> list[doors.Door]:
    for root in (PROJECT, *PLUGINS.values()):
        for path in root.glob("viva*/**/*.py"):
            if re.search(r"doors\.(Door|of_functions)\(", path.read_text(encoding="utf-8")):
                importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
    return [*doors.KNOWN.values()]


def test_the_page_for_authors_lists_every_door_as_its_module_describes_it():
    rows = {f"| `{door}` | {door.adds} | {door.entry} |" for door in every_door()}
    assert len(rows) >= 14
    assert rows == {line for line in PAGE.splitlines() if line.startswith("| `viva.")}


@pytest.mark.slow
def test_the_examples_of_the_page_add_a_command_a_format_and_a_learning_system(course, fresh, tmp_path):
    run = fresh.run
    install(fresh.site, examples())
    assert "count       Print how many submissions each assignment has." in fresh.run("--help")
    assert "count" in fresh.run("completion", "bash")
    (course / "class.csv").write_text("Key,Called,Mail\nk17,Ada King,ada@example.org\n")
    assert "Slate" in fresh.run("roster", "class.csv")
    run("release", SHORT, "--no-audit")
    (notebook,) = (course / "release" / SHORT).glob("*.ipynb")
    with zipfile.ZipFile(tmp_path / "slate.zip", "w") as archive:
        archive.write(notebook, f"{SHORT}/k17--{notebook.name}")
    run("collect", str(tmp_path / "slate.zip"), f"--assignment={SHORT}", "--from=slate", "--time=2026-01-05 12:00Z")
    assert f"{SHORT} 1" in fresh.run("count", SHORT)
    run("grade", SHORT)
    run("feedback", SHORT)
    assert "Chapter 3 has an example of this." in next((course / "feedback" / "k17" / SHORT).glob("*.html")).read_text()
    run("export", SHORT, "--as=slate", "--unfinished")
    assert re.fullmatch(r"Key,Points\nk17,[\d.]+\n", (course / f"{SHORT}-slate.csv").read_text())
    run("export", SHORT, "--as=lines", "--to=grades.txt")
    assert re.fullmatch(rf"k17 {SHORT} [\d.]+\n", (course / "grades.txt").read_text())


@pytest.mark.slow
def test_the_language_of_the_page_speaks_to_students_and_what_it_lacks_is_said_in_english(course, fresh):
    install(fresh.site, examples())
    write_source(course, "### CHECK 6: two\nassert double(1) == 2")
    fresh.run("release", TINY, "--no-audit")
    hand_in(course, "anna", TINY, double="def double(x):\n    return 2 * x")
    fresh.run("grade", TINY)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.PageExporter.language = 'nl'\n")
    fresh.run("feedback", TINY)
    (page,) = course.glob(f"feedback/anna/{TINY}/*.html")
    text = page.read_text(encoding="utf-8")
    assert '<html lang="nl">' in text and "Jouw notebook" in text and "Results by exercise" in text
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.PageExporter.language = 'xx'\n")
    assert "The languages are: de, en, es, fr, nl, zh." in fresh.run("feedback", TINY, status=1)


GRIDS = """
class Grid:
    def __init__(self, cells, width):
        self.cells, self.width = list(cells), width

    def __rmul__(self, factor):
        return Grid([factor * cell for cell in self.cells], self.width)

    def __eq__(self, other):
        return type(other) is Grid and (self.cells, self.width) == (other.cells, other.width)
"""
GRID_TESTS = """import grids
### CHECK 3: a grid of two cells
assert double(grids.Grid([1, 2], 2)) == grids.Grid([2, 4], 2)
### CHECK 3: a grid of one cell
### BEGIN HIDDEN TESTS
result = double(grids.Grid([5], 1))
assert result.cells == [10] and type(result) is grids.Grid
### END HIDDEN TESTS"""


@pytest.mark.slow
def test_the_codec_of_the_page_lets_values_of_a_library_cross_in_grading(course, fresh):
    install(fresh.site, {"pyproject.toml": "", "grids.py": GRIDS}, "grids")
    write_source(course, GRID_TESTS)
    before = fresh.run("release", TINY, "--no-audit")
    assert "single-process" in before, "without the codec a test that passes a grid cannot run in another process"
    install(fresh.site, examples())
    shutil.rmtree(course / "release" / TINY)
    assert "single-process" not in fresh.run("release", TINY, "--no-audit")
    for student, answer in {"anna": "return 2 * x", "bo": "return x"}.items():
        hand_in(course, student, TINY, double=f"def double(x):\n    {answer}")
    fresh.run("grade", TINY)
    fresh.run("export", TINY, "--to=grades.csv")
    rows = csv.DictReader((course / "grades.csv").read_text().splitlines())
    assert {row["student_id"]: row["code_score"] for row in rows} == {"anna": "6.0", "bo": "0.0"}


@pytest.mark.parametrize(
    ("code", "reason"),
    thinned(
        [
            ("import no_such_library", "No module named 'no_such_library'"),
            ("CODECS = 5", "the entry is not a tuple of viva.engine.values.codec.Codec"),
            (
                "from viva.engine.values.codec import Codec\nCODECS = (Codec((list,), list, list),)",
                "builtins.list crosses already",
            ),
        ]
    ),
)
def test_nothing_is_graded_while_the_codec_of_a_library_is_broken(course, fresh, code, reason):
    install(fresh.site, {"pyproject.toml": "", "grids.py": GRIDS}, "grids")
    install(fresh.site, examples())
    write_source(course, GRID_TESTS)
    fresh.run("release", TINY, "--no-audit")
    hand_in(course, "anna", TINY, double="def double(x):\n    return 2 * x")
    (fresh.site / "viva_grids.py").write_text(code)
    said = fresh.run("grade", TINY, status=2)
    assert f"{reason}" in said and "so nothing was graded" in said and "Traceback" not in said
    assert not (course / "autograded" / "anna").exists()


POINTS = '[project.entry-points."{group}"]\n{name} = "{value}"\n'


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("grade", "mine:Command", "adds 'grade' to viva.commands, but Viva itself has one with this name"),
        ("collect", "mine:Command", "Two installed packages add 'collect' to viva.commands"),
    ],
)
def test_a_package_cannot_take_a_name_that_another_has(fresh, name, value, said):
    install(fresh.site, {"pyproject.toml": POINTS.format(group="viva.commands", name=name, value=value)})
    assert said in fresh.run("completion", "bash", status=2) and "Traceback" not in fresh.run("--help", status=2)
    fresh.run("grade")


def test_a_package_that_cannot_be_imported_is_named_where_it_is_asked_for(fresh):
    points = POINTS.format(group="viva.sheets", name="broken", value="broken:Export")
    install(fresh.site, {"pyproject.toml": points, "broken.py": "import no_such_library"})
    said = fresh.run("export", "--as=broken", status=2)
    assert "viva-examples cannot be loaded ('broken' for viva.sheets)" in said
    assert "No module named 'no_such_library'" in said and "Traceback" not in said
    assert "--as=" in fresh.run("export", "--help")


def test_a_command_that_cannot_be_imported_ends_in_a_sentence_and_leaves_the_help_alone(fresh):
    points = POINTS.format(group="viva.commands", name="broken", value="broken:Command")
    code = "import no_such_library\n\nclass Command:\n    description = 'Is broken.'\n"
    install(fresh.site, {"pyproject.toml": points, "broken.py": code})
    assert "broken      Is broken." in fresh.run("--help")
    said = fresh.run("broken", status=2)
    assert "No module named 'no_such_library'" in said and "Traceback" not in said


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_imports_only_modules_that_a_page_of_the_core_names_as_public(plugin):
    used = set()
    for path in PLUGINS[plugin].glob("viva_*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "viva":
                used |= {_module(f"{node.module}.{name.name}") for name in node.names}
    assert len(used) > 2
    assert used - _public() == set()


def _module(name: str) -> str:
    """The module that holds a name, or that the name is."""
    path = PROJECT / name.replace(".", "/")
    return name if path.is_dir() or path.with_suffix(".py").is_file() else name.rpartition(".")[0]


def _public() -> set[str]:
    """The modules that the pages of the core's packages list as public."""
    modules = {"viva"}
    for page in (PROJECT / "viva").rglob("__init__.py"):
        package = ".".join(page.parent.relative_to(PROJECT).parts)
        text = ast.get_docstring(ast.parse(page.read_text(encoding="utf-8"))) or ""
        listed = re.findall(r"\w+", text.partition("Public, for plug-ins:")[2])
        assert all((page.parent / f"{name}.py").is_file() for name in listed), page
        modules |= {f"{package}.{name}" for name in listed}
    return modules


@pytest.mark.usefixtures("processes")
def test_a_command_of_a_package_that_is_not_installed_is_named_with_the_package():
    code = "from viva.cli import COMMANDS; print(COMMANDS.lacking('roster'), COMMANDS.lacking('x'))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    asked = "This needs another package. Install its wheel: python -m pip install "
    assert said == f"{asked}nbviva_term-{__version__}-py3-none-any.whl \n"


@pytest.mark.parametrize(
    ("function", "said"),
    {
        "def advise(course, asked):\n    raise KeyError(asked)": "KeyError: 'ps1'",
        "def advise(course):\n    return []": "TypeError: advise() got an unexpected keyword argument 'asked'",
        "def advise(course, asked):\n    return []": "",
    }.items(),
)
def test_a_function_of_a_package_that_fails_is_named_and_each_call_is_traced(
    function, said, tmp_path, monkeypatch, capsys
):
    points = POINTS.format(group="viva.pages", name="advice", value="viva_advice:advise")
    install(tmp_path, {"pyproject.toml": points, "viva_advice.py": function})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "viva_advice", raising=False)
    monkeypatch.setenv(doors.TRACE, "1")
    if said:
        with pytest.raises(CourseError) as caught:
            page_sentences.ask("advice", course=None, asked="ps1")
        assert str(caught.value).startswith(f"The package viva-examples failed ('advice' for viva.pages): {said}.")
    else:
        assert page_sentences.ask("advice", course=None, asked="ps1") == []
    traced = capsys.readouterr().err
    assert "viva.pages advice: viva_advice:advise loaded, 0." in traced
    assert "viva.pages advice: viva_advice:advise called with course, asked, 0." in traced
    assert ("Traceback" in traced) is bool(said)


def test_installed_packages_are_looked_through_once_and_not_for_each_page():
    """It was two thirds of the time of `viva feedback` with nothing to write."""
    page_sentences.entries()
    before = doors._installed.cache_info().misses
    for _ in range(100):
        page_sentences.load_all()
    assert doors._installed.cache_info().misses == before
