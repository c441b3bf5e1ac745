"""Configures each course of nbgrader's own tests of autograding as Viva's courses are (`make compat`)."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.tests.apps.base import BaseTestApp

from viva.configuration import LINES

INTENDED = {
    "test_side_effects": "files that a notebook writes are gone after grading; nbgrader keeps them in autograded/",
    "test_infinite_loop_with_output": "such a notebook is graded; nbgrader's test, which it skips, wants it refused",
    "test_many_students": "it wants a PostgreSQL server that was configured by hand",
    "test_late_submission_penalty_none": "the rules that Viva sets give a penalty of 0; nbgrader's write none",
    "test_no_execute": "outputs that a student submitted are never kept, so without execution there are none",
    "test_handle_failure": "a notebook with the cells of another one is repaired and graded; nbgrader refuses it",
    "test_handle_failure_single_notebook": "the same",
    "test_force": "a file that was released is there until the next release; nbgrader's test deletes it in source/",
    "test_force_f": "the same",
    "test_missing_source_kernelspec": "no kernel is started, so a submission cannot name a wrong one",
}
"""What differs on purpose, by the name of nbgrader's test; docs/adopting.md says why, and tests of ours hold it."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Each of these tests starts processes, so none is a quick one for tests/conftest.py, which pytest reads, too."""
    item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.name in INTENDED]
    items[:] = [item for item in items if item.name not in INTENDED]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(autouse=True)
def configured(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader reads a folder of Jupyter's settings before a course's; the two lines of `viva init` stand there."""
    folder = tmp_path_factory.mktemp("settings")
    (folder / "nbgrader_config.py").write_text(f"c = get_config()\n{LINES}\n")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder))


@pytest.fixture(autouse=True)
def with_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten tests grade notebooks without cells for short; Viva refuses such a submission as damaged."""
    write = BaseTestApp._empty_notebook

    def empty(test: BaseTestApp, path: str, **options: str) -> None:
        write(test, path, **options)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(nbformat.v4.new_markdown_cell("Nothing to do."))
        nbformat.write(notebook, path)

    monkeypatch.setattr(BaseTestApp, "_empty_notebook", empty)
