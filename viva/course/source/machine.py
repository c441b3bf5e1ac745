"""What an assignment needs of the machine beside Viva's own libraries: packages in odd places, folders, variables.

Theory of operation. A fork server starts with a clean environment and without the user's own packages, and the sandbox
around its forks opens the libraries of the interpreter only. A course may need more: a package that was installed with
``pip install -e`` or ``--user``, one on ``PYTHONPATH``, a folder of shared data. Each module that the complete
notebooks import, and each that those import, is looked up as the course's own Python finds it. Where a fork would not
find it, a link to it is put into a folder of its own on the forks' ``PYTHONPATH``, and the sandbox opens the folder of
links and exactly the places where the links lead.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.metadata
import os
import site
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.preprocessors import IncludeHeaderFooter
from traitlets import List, Unicode
from traitlets.config import Config, Configurable

from viva.course.course import Course
from viva.engine import libraries
from viva.folder import walk
from viva.sandbox.landlock import readable_by_default
from viva.verdict import CourseError

MOST_FILES = 500
"""The files of a package that are searched for imports."""
OURS = ("PATH", "HOME", "LD_", "PYTHON", "VIVA", "TMPDIR")
"""Beginnings of variables that a course does not set: they decide how the processes themselves run."""


class Machine(Configurable):
    """What the machine provides for the notebooks of a course, beside packages."""

    folders = List(Unicode(), help="Folders and files that notebooks may read, such as /shared/data.").tag(config=True)
    variables = List(Unicode(), help="Names of environment variables that notebooks may read.").tag(config=True)


@dataclass(frozen=True)
class Provided:
    """What fork servers get beside their libraries."""

    readable: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


NOTHING = Provided()


def provided(config: Config | None, notebooks: Iterable[Path], files: Iterable[Path] = ()) -> Provided:
    """What is needed by complete notebooks and by the files beside them.

    Raises CourseError for a folder that does not exist, or a variable that is not set or not the course's to set.
    """
    machine = Machine(config=config)
    environment = dict(_variables(machine.variables))
    readable = list(_folders(machine.folders))
    if places := modules(notebooks, files):
        links = Path(tempfile.mkdtemp(prefix="viva-modules-"))
        links.chmod(0o711 | 0o044)  # the forks of root are other users
        for name, found in places.items():
            _link(links, name, found)
            readable += [str(path) for path in found]
        environment["PYTHONPATH"] = str(links)
        readable.append(str(links))
    readable += [os.path.realpath(path) for path in readable]
    return Provided(tuple(dict.fromkeys(readable)), environment)


def of_sources(course: Course, assignments: Iterable[str], config: Config | None) -> Provided:
    """What is needed to run the sources of assignments, with the header and footer that a course includes."""
    notebooks, files = [], []
    for name in assignments:
        notebooks += course.source_notebooks(name)
        files += list(walk(course.path("source", name), course.directory.ignore))
    step = IncludeHeaderFooter(config=config)
    notebooks += [course.root / part for part in (step.header, step.footer) if part]
    return provided(config, notebooks, files)


def modules(notebooks: Iterable[Path], files: Iterable[Path] = ()) -> dict[str, tuple[Path, ...]]:
    """The imported modules that a fork would not find, by name, each with the places where it and its metadata lie."""
    files = list(files)
    beside = {path.stem for path in files if path.suffix == ".py"} | {path.parent.name for path in files}
    scripts = (_text(path) for path in files if path.suffix == ".py")
    todo = [*libraries.named([*libraries.sources(notebooks), *scripts])]
    known: dict[str, tuple[Path, ...]] = {}
    seen = {*beside, *sys.stdlib_module_names}
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if places := _places(name):
            known[name] = (*places, *_metadata(name))
            todo += libraries.named(map(_text, _scripts(places)))
    return known


def imports(notebooks: Iterable[Path], files: Iterable[Path] = ()) -> dict[str, str]:
    """The modules that notebooks and the files beside them cannot do without, and the place where each is found.

    The place of one that is not found is empty. Python's own modules and the files themselves are left out.
    """
    files = list(files)
    scripts = [path for path in files if path.suffix == ".py"]
    own = {*(path.stem for path in scripts), *(path.parent.name for path in files), *sys.stdlib_module_names}
    names = libraries.required([*libraries.sources(notebooks), *map(_text, scripts)]) - own
    return {name: _place(name) for name in sorted(names)}


def published(names: Iterable[str]) -> dict[str, str]:
    """Of modules, those that came from an index of packages, by the name of the package there; familiar ones aside."""
    distributions = importlib.metadata.packages_distributions()
    packages = {}
    for name in sorted(set(names) - set(libraries.FAMILIAR)):
        for package in distributions.get(name, ())[:1]:
            found = importlib.metadata.distributions(name=package)  # a clone has another one beside the installed
            if all(one.read_text("direct_url.json") is None for one in found):
                packages[name] = package
    return packages


def _place(name: str) -> str:
    spec = _spec(name)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return str(folders[0]) if folders else str(spec.origin or "") if spec else ""


def _places(name: str) -> tuple[Path, ...]:
    """The file or folders of a module, as this Python finds it; none where a fork finds it too."""
    spec = _spec(name)
    if spec is None or spec.origin in ("built-in", "frozen"):
        return ()
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    places = tuple(folders or ([Path(spec.origin)] if spec.origin else []))
    return () if all(map(_is_found_by_forks, places)) else places


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a module is, of a file beside the course's own configuration not: a notebook does not run there."""
    path = [entry for entry in sys.path if entry and os.path.realpath(entry) != os.getcwd()]
    for finder in sys.meta_path:
        with contextlib.suppress(ImportError, AttributeError, ValueError):
            entries = path if finder is importlib.machinery.PathFinder else None
            if spec := finder.find_spec(name, entries):
                return spec
    return None


def _is_found_by_forks(place: Path) -> bool:
    """Whether a place is among the interpreter's own libraries."""
    real = Path(os.path.realpath(place))
    odd = [site.getusersitepackages(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    if any(real.is_relative_to(os.path.realpath(entry)) for entry in odd):
        return False
    return any(real.is_relative_to(entry) for entry in readable_by_default())


def _metadata(name: str) -> Iterator[Path]:
    """The folder in which the distribution of a module says its version."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
        folder = getattr(importlib.metadata.distribution(name), "_path", None)
        if folder is not None and Path(folder).is_dir() and not _is_found_by_forks(Path(folder)):
            yield Path(folder)


def _link(links: Path, name: str, places: Iterable[Path]) -> None:
    modules = [place for place in places if not place.name.endswith((".dist-info", ".egg-info"))]
    for place in places:
        if place not in modules:
            (links / place.name).symlink_to(place)
    if len(modules) == 1:
        (links / (name if modules[0].is_dir() else modules[0].name)).symlink_to(modules[0])
        return
    (links / name).mkdir()  # a namespace package, whose parts lie in several folders
    for part in modules:
        for inner in part.iterdir():
            with contextlib.suppress(FileExistsError):
                (links / name / inner.name).symlink_to(inner)


def _scripts(places: Iterable[Path]) -> list[Path]:
    files = (path for place in places for path in ([place] if place.is_file() else walk(place)))
    return [path for _, path in zip(range(MOST_FILES), (path for path in files if path.suffix == ".py"), strict=False)]


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _folders(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not os.path.isabs(name) or not os.path.exists(name):
            raise CourseError(
                f"c.Machine.folders in nbgrader_config.py names {name}, but there is no such absolute path. Nothing "
                "was graded or run. Create the folder, or correct the setting."
            )
        yield name


def _variables(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if name.startswith(OURS):
            raise CourseError(
                f"c.Machine.variables in nbgrader_config.py names {name}. This variable changes how Viva itself "
                "runs. Nothing was graded or run. Remove it from the setting."
            )
        if name not in os.environ:
            raise CourseError(
                f"c.Machine.variables in nbgrader_config.py names {name}, which is not set here. Nothing was graded "
                f"or run. Set it in the shell, for example: export {name}=/shared/data"
            )
        yield name, os.environ[name]
