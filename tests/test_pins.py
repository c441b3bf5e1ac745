"""The pins of constraints.txt, which `make setup` installs."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

from packaging.specifiers import SpecifierSet

from tests.conftest import PROJECT

PINS = dict(line.split("==") for line in (PROJECT / "constraints.txt").read_text().split())
OLDEST = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")


def test_every_pin_can_be_installed_with_the_oldest_python_that_is_promised():
    """Debian 12 has Python 3.11.2, and soupsieve 4.1 wants 3.11.5: pip refused, and did not name it."""
    assert re.search(rf"Python {re.escape(OLDEST)} or newer", (PROJECT / "README.md").read_text())
    known = {}
    for name, version in PINS.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:  # of the extra `compat`
            continue
        if found.version == version:
            known[name] = SpecifierSet(found.metadata.get("Requires-Python") or "")
    assert len(known) > 0.9 * len(PINS), "these are the versions that are installed"
    assert [name for name, wanted in known.items() if not wanted.contains(f"{OLDEST}.0")] == []
