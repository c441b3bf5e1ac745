"""The zip for Gradescope: everything that the grading of one assignment needs, in one file.

It holds solutions and hidden tests. Gradescope shows it to nobody but instructors, and neither should whoever made it.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import itertools
import os
import pickle
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from msgspec import Struct
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions, Execute
from traitlets.config import Config
from traitlets.utils.importstring import import_item

import viva
import viva_gradescope
from viva import doors
from viva.course.course import Course
from viva.course.examining.autograde import Autograde, Examine
from viva.course.gradebook import releases
from viva.course.gradebook.recording import Expected
from viva.course.grading.material import Material
from viva.course.releasing import contract, variants
from viva.course.releasing.contract import Contract
from viva.course.source.timelimit import seconds_of
from viva.engine import libraries
from viva.engine.blueprint import Blueprint, read_blueprint, read_notebook
from viva.folder import walk
from viva.notebook.programming import language_of
from viva.verdict import CourseError

# The packages as they are installed here, for a machine without an index; and the versions of what they need.

NAME = "nbviva"
PARTS = {NAME: viva, "nbviva-gradescope": viva_gradescope}
"""The distributions that grade in a container, and their packages."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip, so that the same input gives the same bytes."""
TAGS = "Wheel-Version: 1.0\nGenerator: viva\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(name: str = NAME) -> tuple[str, bytes]:
    """The name of a wheel of one of PARTS, and the wheel, made of the files that are installed."""
    package, distribution = Path(str(PARTS[name].__file__)).parent, _installed(name)
    stem = f"{name.replace('-', '_')}-{viva.__version__}"
    paths = walk(package, ["__pycache__", "*.pyc"])
    files = {os.path.relpath(path, package.parent): path.read_bytes() for path in paths}
    folder = f"{stem}.dist-info"
    for part in ("METADATA", "entry_points.txt"):
        files[f"{folder}/{part}"] = (distribution.read_text(part) or "").encode()
    for path in distribution.files or ():
        if "licenses" in path.parts:
            files[f"{folder}/licenses/{path.name}"] = Path(path.locate()).read_bytes()
    files[f"{folder}/WHEEL"] = TAGS.encode()
    record = f"{folder}/RECORD"
    files[record] = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in sorted(files.items())).encode()
    files[record] += f"{record},,\n".encode()
    return f"{stem}-py3-none-any.whl", zipped(files)


def _installed(name: str) -> importlib.metadata.Distribution:
    """What pip knows of a package; a checkout also has what setuptools left there, which says less."""
    copies = list(importlib.metadata.distributions(name=name))
    return max(copies, key=lambda copy: bool(copy.read_text("METADATA")))


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def zipped(files: Mapping[str, bytes], programs: Iterable[str] = ()) -> bytes:
    """A zip of files, by name; those that are ``programs`` can be executed when they come out."""
    buffer, programs = io.BytesIO(), set(programs)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def versions() -> str:
    """Every installed distribution but ours with its exact version, as pip takes constraints; pip stays the image's."""
    pinned: dict[str, str] = {}
    for metadata in (
        distribution.metadata for distribution in importlib.metadata.distributions()
    ):  # each access parses it anew
        if metadata and metadata["Name"] and metadata["Version"]:  # what was half removed has none
            # The first counts, as for an import: setuptools adds a folder of others to the path's end.
            pinned.setdefault(metadata["Name"].lower().replace("_", "-"), metadata["Version"])
    return "".join(
        f"{name}=={version}\n" for name, version in sorted(pinned.items()) if name != "pip" and not _is_ours(name)
    )


def _is_ours(name: str) -> bool:
    return name == NAME or name.startswith(f"{NAME}-")


def requirements(modules: Iterable[str]) -> str:
    """The distributions that hold these modules or add codecs for them, one a line; other modules are left out.

    In a checkout also what its pyproject.toml names: what was installed from there may know an older one.
    """
    owners, modules = importlib.metadata.packages_distributions(), set(modules)
    names = {name for module in modules for name in owners.get(module, []) if not _is_ours(name)}
    names |= {entry.dist.name for module, entry in doors.CODECS.entries().items() if module in modules and entry.dist}
    project = Path(viva.__file__).parents[1] / "pyproject.toml"
    if project.is_file():
        described = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
        names |= set(described.get("dependencies", ())) if described.get("name") == NAME else set()
    return "".join(f"{name}\n" for name in sorted(names))


VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
"""When Gradescope shows a check to students, in its words."""
ALWAYS = (Execute, ClearSolutions, ClearHiddenTests, ClearMarkScheme)
"""What grading and feedback ask about their settings, beside the steps that a course names."""
PROGRAMS = {"setup.sh": "setup.sh", "run_autograder": "run_autograder.sh"}
"""What Gradescope calls, and what that is called here."""
SETTINGS, MATERIAL, SOURCE, FILES = "bundle.json", "material", "assignment", "files"
"""What a bundle calls its settings, its material, the folder of the complete notebooks, and that of the files beside
them."""


class Settings(Struct, forbid_unknown_fields=True):
    """What the course says of grading, and what the bundle was made for and with."""

    assignment: str
    viva: str
    python: str
    seconds: float
    memory: int
    budget: float
    no_sandbox: bool
    hidden_checks: str
    """When students see checks of which they have not the whole text: one of VISIBILITIES."""
    automatic_points: float
    manual_points: float
    libraries: tuple[str, ...]
    """What candidates find loaded, and the examiner beside them."""
    hidden_libraries: tuple[str, ...]


@dataclass(frozen=True)
class Bundle:
    """A bundle: its settings, and its files by name."""

    settings: Settings
    files: dict[str, bytes]

    @classmethod
    def of(cls, course: Course, assignment: str, config: Config, hidden_checks: str = VISIBILITIES[0]) -> Bundle:
        """The bundle of a released assignment. Raises CourseError and BlueprintError for one that cannot go there."""
        if hidden_checks not in VISIBILITIES:
            raise CourseError(f"'{hidden_checks}' is not one of Gradescope's visibilities: {', '.join(VISIBILITIES)}.")
        releases.notebooks(course, assignment)
        if variants.is_on(course, assignment):
            raise CourseError(
                f"{assignment} has variants, but Gradescope does not give the autograder the student's name. "
                f"Nothing was written. Remove {assignment} from c.Variants.assignments, or collect from Gradescope "
                "and grade here."
            )
        with course.gradebook() as gradebook:
            expected = Expected.of(gradebook, assignment)
        kept = contract.of(course, assignment, expected)
        with contract.speaking_of_source(kept):
            blueprints = [_blueprint(path) for path in kept.notebooks]
        material = Material.read(course, assignment, config, expected, kept)
        files = {f"{FILES}/{name}": data for name, data in material.files.items()}
        files |= {f"{SOURCE}/{path.name}": path.read_bytes() for path in kept.notebooks}
        files[MATERIAL] = _portable(replace(material, config=_read_by_grading(config, course), files={}), course)
        settings = _settings(course, kept, config, hidden_checks, blueprints)
        files[SETTINGS] = msgspec.json.format(msgspec.json.encode(settings))
        texts = [data.decode(errors="replace") for name, data in material.files.items() if name.endswith(".py")]
        modules = {name.partition(".")[0] for name in (*settings.hidden_libraries, *libraries.imported(texts))}
        files["requirements.txt"], files["constraints.txt"] = requirements(modules).encode(), versions().encode()
        files |= dict(map(wheel, PARTS))
        files |= {program: Path(__file__).with_name(name).read_bytes() for program, name in PROGRAMS.items()}
        return cls(settings, files)

    def to_bytes(self) -> bytes:
        """The zip."""
        return zipped(self.files, PROGRAMS)


def read_settings(folder: Path) -> Settings:
    """The settings of the bundle that was unpacked into a folder. Raises CourseError where there are none."""
    try:
        return msgspec.json.decode((folder / SETTINGS).read_bytes(), type=Settings)
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(f"{folder} does not contain a bundle of this version of Viva: {error}.") from error


def read_material(folder: Path) -> Material:
    """The material in an unpacked bundle, which was not rehearsed yet."""
    material, beside = Material.from_bytes((folder / MATERIAL).read_bytes()), folder / FILES
    return replace(material, files={os.path.relpath(path, beside): path.read_bytes() for path in walk(beside)})


def _blueprint(path: Path) -> Blueprint:
    language = language_of(read_notebook(path).metadata)
    if language != "python":
        raise CourseError(
            f"{path} is written in {language}. The bundle supports only Python, so it was not packaged; 'viva grade' "
            "grades it on your own machine."
        )
    return read_blueprint(path)


def _settings(
    course: Course, kept: Contract, config: Config, hidden_checks: str, blueprints: list[Blueprint]
) -> Settings:
    step, release = Examine(config=config), course.path("release", kept.facts.assignment)
    return Settings(
        assignment=kept.facts.assignment,
        viva=viva.__version__,
        python=".".join(map(str, sys.version_info[:2])),
        seconds=seconds_of(config),
        memory=step.memory,
        budget=step.budget,
        no_sandbox=step.no_sandbox,
        hidden_checks=hidden_checks,
        automatic_points=sum(blueprint.automatic_points for blueprint in blueprints),
        manual_points=sum(blueprint.manual_points for blueprint in blueprints),
        libraries=libraries.wanted(release.glob("*.ipynb")),
        hidden_libraries=libraries.wanted(kept.notebooks),
    )


def _read_by_grading(config: Config, course: Course) -> Config:
    """The sections that belong to a step of grading: none of the gradebook's address, an exchange's or a server's.

    Raises CourseError for a step that the container would not have.
    """
    converter = Autograde(config=config)
    steps = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors, *ALWAYS]
    classes = [_imported(step) for step in (*steps, converter.exporter_class)]
    for cls in classes:
        _refuse_own(cls.__module__, course)
    names = {base.__name__ for cls in (Autograde, CourseDirectory, *classes) for base in cls.__mro__}
    sections = Config({name: section for name, section in config.items() if name in names})
    for name in ("db_url", "root"):
        sections.CourseDirectory.pop(name, None)
    return sections


def _portable(material: Material, course: Course) -> bytes:
    """The material as bytes. Raises CourseError where its configuration holds what only this course has."""
    data = material.to_bytes()
    Material.from_bytes(data)  # raises where a function stands in the configuration
    for module in itertools.chain.from_iterable(map(_modules, (data, pickle.loads(data)[1]))):
        _refuse_own(module, course)
    return data


def _imported(step: type | str) -> type:
    try:
        return step if isinstance(step, type) else import_item(step)
    except ImportError as error:
        raise CourseError(
            f"nbgrader_config.py needs '{step}', which cannot be imported: {error}. Install it, or remove it from "
            "nbgrader_config.py."
        ) from error


def _refuse_own(module: str, course: Course) -> None:
    """Raises CourseError for a module that is the course's own."""
    name = module.partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file or not Path(file).resolve().is_relative_to(course.root.resolve()):
        return
    if "site-packages" not in Path(file).parts and name not in (package.__name__ for package in PARTS.values()):
        raise CourseError(
            f"nbgrader_config.py uses the module {module} of the course folder. The container would not have this "
            "module. Make an installable package of it, or remove it from nbgrader_config.py."
        )


class _Reader(pickle.Unpickler):
    """Notes the modules of what it reads."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> object:
        self.modules.add(module)
        return super().find_class(module, name)


def _modules(data: bytes) -> list[str]:
    reader = _Reader(data)
    reader.load()
    return sorted(reader.modules)
