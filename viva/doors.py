"""The doors of Viva: what other packages add to it.

A package adds a command, a format or a type with an entry point in its own pyproject.toml. Each door is a group of
entry points; the table below says what an entry of each group is. Viva's own plug-ins use the same doors. The page
docs/extending.md has an example of each.

| group | name of an entry | value of an entry |
|---|---|---|
| viva.commands | the command as it is typed | a subclass of ``viva.commands.command.VivaCommand`` |
| viva.graders | the option that selects it | ``viva.course.grading.remote.RemoteGraders``: who runs a batch |
| viva.sheets | what ``viva export --as`` calls it | nbgrader's ``ExportPlugin`` (``viva.course.grades.sheetplan``) |
| viva.codecs | the library as it is imported | a tuple of ``viva.engine.values.codec.Codec`` |
| viva.languages | its tag, as de | the text or the path of a file such as viva/words.de.toml: sentences for students |
| viva.kernels | a language, as r | ``viva.engine.kerneldialogue.KernelDialogue``: its tests run in a kernel apart |
| viva.people | any | a function: course -> ``viva.pages.reporting.findings.People`` |
| viva.origins | what ``viva adopt --from`` calls it | ``viva_audit.adoption.Origin`` |
| viva.proofs | any | ``viva.course.releasing.proof.Proof``: proves an assignment before its release |
| viva.pages | any | a function: course, ``viva.pages.additions.Asked`` -> a list of ``Addition`` |
| viva.archives | what ``viva collect --from`` calls it | ``viva_term.archives.layouts.Layout`` |
| viva.rosters | what ``viva roster --from`` calls it | ``viva_term.lms.systems.System`` |
| viva.changes | a kind of change | ``viva.course.gradebook.journal.Steps``: how a change that was stopped is finished |
| viva.members | the same, where no file is needed | a function: ``VivaCommand`` -> ``viva.course.table.Table`` |
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import viva
from viva.verdict import CourseError

COMMANDS, GRADERS, SHEETS, PEOPLE = "viva.commands", "viva.graders", "viva.sheets", "viva.people"
ARCHIVES, ROSTERS, CODECS, MEMBERS = "viva.archives", "viva.rosters", "viva.codecs", "viva.members"
ORIGINS, PAGES, LANGUAGES, CHANGES = "viva.origins", "viva.pages", "viva.languages", "viva.changes"
KERNELS, PROOFS = "viva.kernels", "viva.proofs"
PACKAGES = {
    COMMANDS: {
        "adopt": "nbviva-audit",
        "audit": "nbviva-audit",
        "demo": "nbviva-audit",
        "collect": "nbviva-term",
        "roster": "nbviva-term",
        "lti": "nbviva-lti",
        "canvas": "nbviva-lti",
        "package": "nbviva-gradescope",
        "watch": "nbviva-watch",
        "diagnose": "nbviva-diagnosis",
    },
    SHEETS: dict.fromkeys(("brightspace", "canvas", "gradescope", "json", "moodle", "xlsx"), "nbviva-term"),
    GRADERS: {"cluster": "nbviva-scale"},
    MEMBERS: {"lti": "nbviva-lti", "canvas": "nbviva-lti"},
    ORIGINS: {"otter": "nbviva-otter"},
    KERNELS: {"r": "nbviva-r"},
    CHANGES: dict.fromkeys(("forget", "restore", "erase", "same", "roster"), "nbviva-term"),
}
"""The packages of Viva's own plug-ins, by what they add."""


def entries(group: str, builtin: Iterable[str] = ()) -> dict[str, EntryPoint]:
    """The entries of a group by name, in the order of their names.

    Raises CourseError where two packages add the same name, or one of ``builtin``, which Viva has without them.
    """
    entries: dict[str, EntryPoint] = {}
    for entry in _installed(group, tuple(sys.path)):
        # A checkout that was installed in place can be on the path twice; both say the same.
        if (earlier := entries.get(entry.name)) and earlier.value != entry.value:
            raise CourseError(
                f"Two installed packages add '{entry.name}' to {group}: {_named(earlier)} and "
                f"{_named(entry)}. Uninstall one of them."
            )
        if entry.name in builtin:
            raise CourseError(
                f"{_package(entry)} adds '{entry.name}' to {group}, but Viva itself has one with this name. "
                f"Uninstall {_package(entry)}."
            )
        entries[entry.name] = entry
    return entries


@functools.lru_cache
def _installed(group: str, _path: tuple[str, ...]) -> list[EntryPoint]:
    """The entries of the packages on the path, once for each path: a page asks for them, and there are many pages."""
    return sorted(entry_points(group=group))


def load(group: str, name: str) -> Any:
    """The value of an entry. Raises CourseError where its package cannot be imported, and KeyError for no entry."""
    entry = entries(group)[name]
    try:
        return entry.load()
    except Exception as error:
        raise CourseError(
            f"The package {_package(entry)} cannot be loaded ('{name}' for {group}): {type(error).__name__}: "
            f"{error}. Install it again, or uninstall it."
        ) from error


def folders(group: str) -> Iterator[str]:
    """The folders of the packages that add something to a group, which are elsewhere where one is installed in
    place."""
    for package in {entry.module.partition(".")[0] for entry in entry_points(group=group)}:
        with contextlib.suppress(ImportError, ValueError):
            if found := importlib.util.find_spec(package):
                yield from found.submodule_search_locations or ()


def load_all(group: str, builtin: Iterable[str] = ()) -> dict[str, Any]:
    """The values of all entries of a group, by name. Raises CourseError as ``entries`` and ``load`` do."""
    return {name: load(group, name) for name in entries(group, builtin)}


def lacking(group: str, name: str) -> str:
    """The sentence that names the package of an entry that is not installed; empty for an unknown name."""
    package = PACKAGES.get(group, {}).get(name)
    return f"This needs another package. Install its wheel: {install(package)}" if package else ""


def install(distribution: str) -> str:
    """The command that installs a distribution of Viva: from a file, as anybody can register its name on an index."""
    return f"python -m pip install {wheel(distribution)}"


def wheel(distribution: str) -> str:
    """The file name of a distribution of this version, as `pip wheel` writes it."""
    return f"{distribution.replace('-', '_')}-{viva.__version__}-py3-none-any.whl"


def _package(entry: EntryPoint) -> str:
    return f"The package {entry.dist.name}" if entry.dist else f"The package of {entry.value}"


def _named(entry: EntryPoint) -> str:
    return f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value
