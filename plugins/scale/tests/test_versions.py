"""What differs is named with both versions."""

from __future__ import annotations

import importlib.metadata

import viva
from viva_scale.versions import ENGINE, LIBRARIES, PYTHON, difference, distributions, versions


def test_both_versions_are_named():
    here = versions(LIBRARIES)
    assert difference(here, here) == ""
    there = here | {ENGINE: "3", "numpy": "1.0", PYTHON: "3.9"}
    numpy = importlib.metadata.version("numpy")
    assert difference(here, there) == (
        f"Viva's engine 3 there and {viva.ENGINE} here, Python 3.9 there and {here[PYTHON]} here, "
        f"numpy 1.0 there and {numpy} here"
    )
    del there["scipy"]
    assert "scipy none there and" in difference(here, there)


def test_libraries_that_a_course_imports_count_by_the_name_of_their_distribution():
    assert {*LIBRARIES, "python-dateutil", "pyyaml", "nbviva-ml"} == set(
        distributions(("dateutil.parser", "yaml", "json"))
    )
    assert versions(("no-such-library",))["no-such-library"] == "none"
