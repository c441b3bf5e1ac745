"""A student is told to install what is known to be a package, and no name that only some code imports."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from viva.course.source.machine import published
from viva_check.packages import known_to


def told(*cells: str, **about) -> dict[str, str]:
    metadata = {"viva": {"check": about}} if about else {}
    cells = [new_markdown_cell("!pip install fromtext"), *map(new_code_cell, cells)]
    return known_to(new_notebook(cells=cells, metadata=metadata))


def test_a_name_that_code_imports_is_no_package():
    """A slip, and the course's private module: both may be a stranger's package on the index."""
    known = told("import nupmy, vivacourse, numpy\nfrom sklearn import tree")
    assert "nupmy" not in known and "vivacourse" not in known and "fromtext" not in known
    assert (known["numpy"], known["sklearn"]) == ("numpy", "scikit-learn")


@pytest.mark.parametrize(
    "line", ["%pip install -q gurobi-py==11", "!pip3 install gurobi-py", "  !python3 -m pip install x 'y' gurobi-py>=2"]
)
def test_what_the_notebook_installs_itself_may_be_named(line):
    known = told(line)
    assert known["gurobi_py"] == "gurobi-py" and "11" not in known and "" not in known
    assert "gurobi_py" in known.own and "numpy" not in known.own, "a student is told that this line has no effect"


def test_what_the_release_says_counts_where_it_can_be_a_name():
    known = told(packages={"geo": "geopandas", "bad": "x; rm -rf ~", "url": "http://x/y.whl", "odd": 3})
    assert known["geo"] == "geopandas" and not {"bad", "url", "odd"} & known.keys()


def test_a_release_names_packages_from_an_index_and_none_that_is_installed_in_place():
    assert published(["numpy", "nbformat", "viva", "nosuchlibrary", "os"]) == {"nbformat": "nbformat"}
