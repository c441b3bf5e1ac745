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


def test_the_tape_is_the_same_twice_and_says_which_line_moved():
    from bench.tape import moved, tape

    ours, theirs = tape(few=1)
    assert ours and not theirs
    assert (ours, theirs) == tape(few=1)
    changed = [[*ours[0][:3], "failed", *ours[0][4:]], *ours[1:]]
    assert [line.split(": ")[0] for line in moved(ours, changed)] == [" | ".join(ours[0][:3])]


def test_the_makefile_starts_them_as_modules():
    assert set(re.findall(r"-m (bench\.\w+)", MAKEFILE)) <= set(MODULES)
    assert not re.search(r"bench/\w+\.py", MAKEFILE)
