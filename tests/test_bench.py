"""The measurements that the Makefile starts can be started."""

from __future__ import annotations

import importlib
import re

import pytest

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
