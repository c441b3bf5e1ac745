"""Doors: what other packages add to Viva.

A package adds a command, a format or a type with an entry point in its own pyproject.toml. A door is a group of entry
points. It stands in the module that asks it, and says what an entry is and which of Viva's own packages have one; they
use the same doors as others. The page docs/extending.md lists all doors and has an example of each.

Where the environment variable VIVA_TRACE_DOORS is set, standard error names each entry that is loaded or called.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, ParamSpec, TypeVar

import viva
from viva.verdict import CourseError, VivaError

P = ParamSpec("P")
R = TypeVar("R")
TRACE = "VIVA_TRACE_DOORS"
KNOWN: dict[str, Door] = {}
"""By group, the doors of the modules that this process has loaded."""


class Door:
    """A group of entry points; who asks loads the value of an entry.

    ``adds`` says what an entry adds, ``entry`` what its value is, and ``packages`` which of Viva's own packages has an
    entry of a name.
    """

    def __init__(self, group: str, *, adds: str, entry: str, packages: Mapping[str, str] | None = None) -> None:
        self.group, self.adds, self.entry, self.packages = group, adds, entry, dict(packages or {})
        KNOWN[group] = self

    def __str__(self) -> str:
        return self.group

    def entries(self, builtin: Iterable[str] = ()) -> dict[str, EntryPoint]:
        """The entries by name, in the order of their names.

        Raises CourseError where two packages add the same name, or one of ``builtin``, which Viva has without them.
        """
        entries: dict[str, EntryPoint] = {}
        for entry in _installed(self.group, tuple(sys.path)):
            # A checkout that was installed in place can be on the path twice; both say the same.
            if (earlier := entries.get(entry.name)) and earlier.value != entry.value:
                raise CourseError(
                    f"Two installed packages add '{entry.name}' to {self}: {_named(earlier)} and "
                    f"{_named(entry)}. Uninstall one of them."
                )
            if entry.name in builtin:
                raise CourseError(
                    f"{_package(entry)} adds '{entry.name}' to {self}, but Viva itself has one with this name. "
                    f"Uninstall {_package(entry)}."
                )
            entries[entry.name] = entry
        return entries

    def load(self, name: str) -> Any:
        """The value of an entry. Raises CourseError where its package cannot be imported, and KeyError for no entry."""
        entry = self.entries()[name]
        try:
            with _traced(self, entry, "loaded"):
                return entry.load()
        except Exception as error:
            raise CourseError(
                f"{_package(entry)} cannot be loaded ('{name}' for {self}): {type(error).__name__}: "
                f"{error}. Install it again, or uninstall it."
            ) from error

    def load_all(self, builtin: Iterable[str] = ()) -> dict[str, Any]:
        """The values of all entries by name. Raises CourseError as ``entries`` and ``load`` do."""
        return {name: self.load(name) for name in self.entries(builtin)}

    def folders(self) -> Iterator[str]:
        """The folders of the packages that have an entry, which are elsewhere where one is installed in place."""
        for package in {entry.module.partition(".")[0] for entry in entry_points(group=self.group)}:
            with contextlib.suppress(ImportError, ValueError):
                if found := importlib.util.find_spec(package):
                    yield from found.submodule_search_locations or ()

    def lacking(self, name: str) -> str:
        """The sentence that names the package of an entry that is not installed; empty for an unknown name."""
        package = self.packages.get(name)
        return f"This needs another package. Install its wheel: {install(package)}" if package else ""


class FunctionDoor(Door, Generic[P, R]):
    """A door whose entries are functions, each with the arguments and the result of ``described``."""

    def __init__(self, group: str, described: Callable[P, R], packages: Mapping[str, str] | None) -> None:
        arguments = str(inspect.signature(described)).replace("'", "").replace("*, ", "")
        where = f"{described.__module__}.{described.__name__}"
        super().__init__(
            group,
            adds=str(inspect.getdoc(described)).partition("\n")[0].rstrip("."),
            entry=f"a function `{arguments}`, as `{where}`",
            packages=packages,
        )

    def ask(self, name: str, /, *unnamed: P.args, **arguments: P.kwargs) -> R:
        """What the function of an entry returns. Raises what ``load`` raises, the function's own VivaError, and
        CourseError where the function fails otherwise."""
        function, entry = self.load(name), self.entries()[name]
        try:
            with _traced(self, entry, f"called with {', '.join(arguments)}"):
                return function(*unnamed, **arguments)
        except VivaError:
            raise
        except Exception as error:
            raise CourseError(
                f"{_package(entry)} failed ('{name}' for {self}): {type(error).__name__}: {error}. Install it again, "
                "or uninstall it."
            ) from error

    def ask_all(self, *unnamed: P.args, **arguments: P.kwargs) -> list[R]:
        """What the functions of all entries return, in the order of their names. Raises as ``ask`` does."""
        return [self.ask(name, *unnamed, **arguments) for name in self.entries()]


def of_functions(
    group: str, packages: Mapping[str, str] | None = None
) -> Callable[[Callable[P, R]], FunctionDoor[P, R]]:
    """Make a door of a function without a body, which has the arguments of each entry, and says what one does."""
    return lambda described: FunctionDoor(group, described, packages)


CODECS = Door(
    "viva.codecs",
    adds="types of a library whose values cross to the tests' process",
    entry="a tuple of `viva.engine.values.codec.Codec`; its name is the library's, as in `import grids`",
)
"""It stands here as the sandbox asks it, too: it opens the folders of these packages."""


def install(distribution: str) -> str:
    """The command that installs a distribution of Viva: from a file, as anybody can register its name on an index."""
    return f"python -m pip install {wheel(distribution)}"


def wheel(distribution: str) -> str:
    """The file name of a distribution of this version, as `pip wheel` writes it."""
    return f"{distribution.replace('-', '_')}-{viva.__version__}-py3-none-any.whl"


@functools.lru_cache
def _installed(group: str, _path: tuple[str, ...]) -> list[EntryPoint]:
    """The entries of the packages on the path, once for each path: a page asks for them, and there are many pages."""
    return sorted(entry_points(group=group))


@contextlib.contextmanager
def _traced(door: Door, entry: EntryPoint, done: str) -> Iterator[None]:
    if not os.environ.get(TRACE):
        yield
        return
    begun = time.perf_counter()
    try:
        yield
    except Exception:
        traceback.print_exc()
        raise
    finally:
        took = time.perf_counter() - begun
        print(f"{door} {entry.name}: {entry.value} {done}, {took:.3f} s", file=sys.stderr)


def _package(entry: EntryPoint) -> str:
    return f"The package {entry.dist.name}" if entry.dist else f"The package of {entry.value}"


def _named(entry: EntryPoint) -> str:
    return f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value
