"""The page about Python: its examples run as they are, and what it calls public is what the packages list."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from tests.conftest import PROJECT, load
from tests.course.regrade.test_regrading import TINY
from viva.course.grading.batch import autograde

PAGE = (PROJECT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TABLE = {
    package: re.findall(r"`(\w+)`", names)
    for package, names in re.findall(r"^\| `(viva[\w.]*)` \| (.+) \|$", PAGE, re.M)
}


def public() -> dict[str, list[str]]:
    """By package, the modules that its page lists as public."""
    lists = {}
    for path in sorted((PROJECT / "viva").rglob("__init__.py")):
        page = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if names := re.search(r"Public, for plug-ins: (.+?)\.$", page, re.DOTALL | re.MULTILINE):
            package = ".".join(path.parent.relative_to(PROJECT).parts)
            lists[package] = re.split(r",\s+", names[1])
    return lists


def test_the_page_lists_what_the_packages_list():
    assert public() == TABLE


def test_the_examples_import_nothing_of_viva_but_what_is_public():
    modules = {f"{package}.{name}" for package, names in public().items() for name in names}
    for node in (node for text in EXAMPLES for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "viva":
            assert {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & modules, node.module


@pytest.mark.slow
def test_the_examples_run_as_they_are(founded, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(founded, root)
    for student, answer in (("right", "def double(x):\n    return 2 * x"), ("wrong", "def double(x):\n    return 4")):
        notebook = nbformat.read(root / "release" / TINY / "tiny.ipynb", as_version=4)
        next(cell for cell in notebook.cells if cell.id == "double").source = answer
        (root / "submitted" / student / TINY).mkdir(parents=True)
        nbformat.write(notebook, root / "submitted" / student / TINY / "tiny.ipynb")
    course, config = load(root)
    list(autograde(course, course.submissions([TINY]), config=config))
    graded, read = (
        subprocess.run([sys.executable, "-c", text], cwd=root, capture_output=True, text=True) for text in EXAMPLES
    )
    assert (graded.returncode, read.returncode) == (0, 0), graded.stderr + read.stderr
    lines = [line for line in graded.stdout.splitlines() if "two doubles to four" in line]
    assert [line.split()[0] for line in lines] == ["right", "wrong"]
    assert {"1.0 of 1.0 passed" in line for line in lines} == {True}
    assert f"{TINY} right 0 checks lost points" in read.stdout
    assert f"{TINY} wrong 3 checks lost points" in read.stdout
    assert "[('right', " in read.stdout
