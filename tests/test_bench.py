"""The measurements that the Makefile starts can be started."""

from __future__ import annotations

import importlib
import re

import pytest

from bench import figures
from tests.conftest import PROJECT

MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
MODULES = [f"bench.{path.stem}" for path in sorted((PROJECT / "bench").glob("*.py"))]


@pytest.mark.parametrize("module", MODULES)
def test_a_measurement_is_found_from_the_project(module, monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT))
    importlib.import_module(module)


def test_the_makefile_starts_them_as_modules():
    assert set(re.findall(r"-m (bench\.\w+)", MAKEFILE)) <= set(MODULES)
    assert not re.search(r"bench/\w+\.py", MAKEFILE)


def test_the_figures_of_the_package_are_counted_and_a_check_goes_no_longer_way_than_it_did():
    modules, lines = figures.sizes()["engine"]
    assert modules <= 50 and 5000 < lines <= 9600
    assert figures.importers()["viva.engine.dialogue.asker"] >= {"viva.engine.examiner"}
    assert "viva.engine.dialogue.asker" not in figures.single_importers()
    seen = set().union(*figures.trace().values())
    assert len({file for file, _, _ in seen}) <= 24 and 60 <= len(seen) <= 135
