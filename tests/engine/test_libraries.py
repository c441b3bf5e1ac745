"""The fork servers load what the batch will use, and nothing that a fork would not survive."""

from __future__ import annotations

import contextlib
import os
import sys
import venv

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.conftest import PROJECT
from tests.engine.test_parent import child
from tests.oral import Exam
from viva.course.examining.graders import absent_libraries
from viva.engine import libraries
from viva.engine.grading import Grader
from viva.engine.parent import Role, begin
from viva.sandbox.confinement import Sandbox


def test_the_common_libraries_are_loaded_that_any_file_may_import():
    texts = [b"import numpy as np", b"from matplotlib import pyplot as plt", b"from scipy import stats"]
    assert libraries.mentioned(texts) == ("numpy", "scipy.stats", "matplotlib.pyplot")
    assert libraries.mentioned([]) == ()


@pytest.mark.parametrize(
    "text",
    [b"import numpy as np\nnp.testing.assert_allclose(1, 1)", b"from numpy import testing", b"import numpy.testing"],
)
def test_what_numpy_loads_when_it_is_spoken_of_is_loaded_for_who_speaks_of_it(text):
    assert libraries.mentioned([text]) == ("numpy", "numpy.testing")
    assert libraries.mentioned([b"import numpy\n# testing a polynomial"]) == ("numpy",)


@pytest.mark.parametrize("text", [b"%matplotlib inline", b"import pandas\npandas.Series([1]).plot()", b"%pylab"])
def test_plotting_is_loaded_for_whatever_may_plot(text):
    assert "matplotlib.pyplot" in libraries.mentioned([text])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import bs4", {"bs4"}),
        ("import bs4.element as e, os.path", {"bs4.element"}),
        ("from bs4 import BeautifulSoup", {"bs4.BeautifulSoup"}),
        ("from bs4 import *", set()),
        ("%matplotlib inline\ndef f():\n    import bs4", {"bs4"}),
        ("import os, helpers, viva", set()),
        ("from . import neighbour", set()),
        ("import bs4\ndef (", set()),
    ],
)
def test_of_an_instructors_cell_the_installed_libraries_are_loaded(source, found):
    assert set(libraries.imported([source])) == found


def test_links_pipes_and_what_is_no_notebook_hold_nobody_up(tmp_path):
    (tmp_path / "secret").write_text("import pandas")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "broken.ipynb").write_text('{"cells": "import numpy"')
    (tmp_path / "folder.ipynb").mkdir()
    paths = [tmp_path / name for name in ("link.ipynb", "pipe.ipynb", "broken.ipynb", "folder.ipynb", "gone.ipynb")]
    assert libraries.wanted(paths, paths) == ("numpy",)


def test_only_code_is_searched_for_imports(tmp_path):
    notebook = new_notebook(cells=[new_markdown_cell("import bs4"), new_code_cell("import sqlalchemy")])
    nbformat.write(notebook, tmp_path / "n.ipynb")
    assert libraries.wanted([tmp_path / "n.ipynb"]) == ("sqlalchemy",)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An interpreter with one library more; which of some modules a candidate of it finds loaded."""
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/*/site-packages")
    others = [entry for entry in sys.path if entry.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join([str(PROJECT), *others]))
    sandbox = Sandbox.for_candidate(readable=[tmp_path])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))

    def installed(body: str, *loaded: str) -> list[str]:
        (site / "noisy.py").write_text(body)
        (parent,) = begin([Role("candidate", sandbox, 82)], loaded)
        try:
            with child(parent, parent.scratch()) as one:
                names = "{'bs4', 'numpy', 'bs4.element', 'noisy'}"
                return one.run(f"import sys\nprint(*sorted({names} & set(sys.modules)))").split()
        finally:
            parent.close()

    return installed


@pytest.mark.usefixtures("processes")
def test_a_name_in_a_module_loads_the_module_and_an_unknown_one_nothing(installed):
    found = installed("", "numpy", "bs4.BeautifulSoup", "no.such.module")
    assert found == ["bs4", "bs4.element", "numpy"]


@pytest.mark.usefixtures("processes")
def test_what_a_library_prints_when_it_is_loaded_nobody_sees(installed, capfd):
    assert "noisy" in installed("print('hello')", "noisy")
    assert capfd.readouterr() == ("", "")


THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n"


@pytest.mark.parametrize("body", [THREAD, "raise RuntimeError('not here')\n"])
@pytest.mark.usefixtures("processes")
def test_a_library_that_cannot_be_forked_or_loaded_is_left_to_who_imports_it(installed, body):
    assert installed(body, "numpy", "noisy", "bs4") == ["bs4", "bs4.element", "numpy"]


@pytest.mark.usefixtures("processes")
def test_a_library_that_starts_threads_is_named_and_those_after_it_are_not():
    (parent,) = begin([Role("candidate")], ("pandas", "bs4", "polars.DataFrame", "polars.col", "no_such_module"))
    with contextlib.closing(parent):
        absent = parent.absent()
        assert len(os.listdir(f"/proc/{parent.pid}/task")) == 1
    assert absent.keys() == {"polars", "no_such_module"}, "pandas loads pyarrow, whose thread was disarmed"
    assert absent["polars"].startswith("threads: ") and absent["no_such_module"].startswith("ModuleNotFoundError: ")


@pytest.mark.usefixtures("processes")
def test_a_common_library_is_left_out_as_well_where_it_starts_threads():
    armed = {"JE_ARROW_MALLOC_CONF": "background_thread:true"}
    (parent,) = begin([Role("candidate", Sandbox.for_candidate(), 82)], ("numpy", "pandas", "bs4"), armed)
    with contextlib.closing(parent):
        assert parent.absent() == {"pandas": "threads: jemalloc_bg_thd"}
        with child(parent, parent.scratch()) as one:
            names = "{'bs4', 'numpy', 'pandas'}"
            assert one.run(f"import sys\nprint(*sorted({names} & set(sys.modules)))").split() == ["bs4", "numpy"]


POLARS = """
--- answer
import polars as pl

def totals(names, numbers):
    frame = pl.DataFrame({"name": names, "number": numbers}).lazy()
    return frame.group_by("name").agg(pl.col("number").sum()).sort("name").collect()["number"].to_list()
--- test
assert totals(["a", "b", "a"], [1, 2, 3]) == [4, 2]
--- wrong
def totals(names, numbers):
    return [4]
"""
ARROW = """
--- answer
import pandas as pd

def again(names):
    pd.DataFrame({"name": names}).to_parquet("names.parquet")
    return pd.read_parquet("names.parquet")
--- test
frame = again(["a", "b"])
assert frame["name"].tolist() == ["a", "b"]
--- wrong
def again(names):
    return pd.DataFrame({"name": names[:1]})
"""


@pytest.mark.usefixtures("processes")
def test_whoever_grades_is_told_which_libraries_are_not_loaded_once_for_all():
    with contextlib.closing(Grader(libraries=("polars", "no_such_module"))) as grader:
        missing, slow = absent_libraries(grader)
    assert missing.startswith("no_such_module cannot be imported in grading (ModuleNotFoundError: No module named")
    assert (
        slow.startswith("polars starts threads: ")
        and "when it is imported, so it is imported again for each submission. Grading" in slow
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", [POLARS, ARROW], ids=["polars", "pyarrow"])
def test_answers_that_use_a_library_with_threads_of_its_own_are_graded(grader, tmp_path, text):
    Exam(text, grader, tmp_path).prove()


def test_of_a_submission_with_very_many_files_few_are_looked_at(tmp_path):
    for number in range(100):
        (tmp_path / f"{number:03}.txt").write_text("numpy")
    assert len(list(libraries.looked_at(tmp_path))) == libraries.MOST_FILES
