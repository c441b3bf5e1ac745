"""The pins of constraints.txt, which `make setup` and the other installing targets take."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import PROJECT

LINES = (PROJECT / "constraints.txt").read_text().split()
PINS = {canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)}
OLDEST = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
BESIDE = ("docs", "publish", "compat")
"""The extras that `make setup` does not install."""


def required(*extras: str) -> set[str]:
    """The names of all distributions that these extras bring, as their own metadata tells; Viva's own are left out."""
    found: dict[str, frozenset[str]] = {}
    ahead = [("nbviva", frozenset(extras))]
    while ahead:
        name, asked = ahead.pop()
        if asked <= found.get(name, frozenset({""})) and name in found:
            continue
        found[name] = found.get(name, frozenset()) | asked
        for text in distribution(name).requires or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in {*asked, ""}):
                ahead.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name in found if not name.startswith("nbviva")}


def faults(names: set[str]) -> list[str]:
    """What is wrong with the pins of these distributions."""
    lines = [f"{name} has no pin" for name in sorted(names - PINS.keys())]
    for name in sorted(names & PINS.keys()):
        found = distribution(name)
        if found.version != PINS[name]:
            lines.append(f"{name} {found.version} is installed, the pin is {PINS[name]}")
        elif not SpecifierSet(found.metadata.get("Requires-Python") or "").contains(f"{OLDEST}.0"):
            lines.append(f"{name} {found.version} cannot be installed with Python {OLDEST}.0")
    return lines


def test_what_make_setup_installs_is_pinned_and_can_be_installed_with_the_oldest_python_that_is_promised():
    """Debian 12 has Python 3.11.2, and soupsieve 4.1 wants 3.11.5: pip refused, and did not name it."""
    assert re.search(rf"Python {re.escape(OLDEST)} or newer", (PROJECT / "README.md").read_text())
    names = required("test")
    assert len(names) > 150 and {"nbgrader", "numpy", "pytest", "openpyxl"} <= names
    assert faults(names) == []


@pytest.mark.extra(*BESIDE)
def test_the_other_extras_are_pinned_too_and_no_pin_is_left_over():
    names = required("test", *BESIDE)
    assert faults(names) == []
    assert sorted(PINS.keys() - names) == []
