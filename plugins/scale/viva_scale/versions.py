"""The versions that must be equal on this machine and each worker, so that verdicts are the same everywhere."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable

import viva
from viva import doors

LIBRARIES = (
    *("numpy", "scipy", "pandas", "matplotlib", "ipython"),  # what verdicts depend on
    *("nbgrader", "nbformat", "nbconvert", "nh3", "msgpack", "msgspec", "traitlets"),  # and what is written of them
)
"""As distributions are called. Dask has rules of its own, and says itself which versions work together."""
ENGINE, VIVA, PYTHON = "Viva's engine", "Viva", "Python"


def distributions(modules: Iterable[str]) -> tuple[str, ...]:
    """The libraries that count, with those that hold the ``modules`` that a course imports, and all packages that add
    codecs: without a codec a right answer fails. Raises CourseError for two packages that add the same."""
    owners = importlib.metadata.packages_distributions()
    names = {name for module in modules for name in owners.get(module.partition(".")[0], ())}
    names |= {entry.dist.name for entry in doors.CODECS.entries().values() if entry.dist}
    return tuple(sorted({*LIBRARIES, *map(str.lower, names)}))


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """What this process has, by name; "none" for what is not installed."""
    installed = {ENGINE: str(viva.ENGINE), VIVA: viva.__version__}
    installed[PYTHON] = ".".join(platform.python_version_tuple()[:2])
    for name in libraries:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            installed[name] = "none"
    return installed


def difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What is not the same, with both versions: "numpy 2.3.5 there and 2.3.4 here"; empty where all is."""
    different = [name for name, version in ours.items() if theirs.get(name) != version]
    return ", ".join(f"{name} {theirs.get(name, 'none')} there and {ours[name]} here" for name in different)
