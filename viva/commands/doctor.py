"""The command that lists what this machine and course folder lack, and how to fix it: doctor."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbgrader.exchange import ExchangeFactory
from sqlalchemy.exc import DBAPIError
from traitlets import TraitError
from traitlets.config import Config

from viva.cleaning import plaintext
from viva.commands.terminal import zone_problem
from viva.configuration import LINES, ignored, missing
from viva.course.course import Course
from viva.course.database import shown, trouble, with_retries
from viva.course.gradebook import agreement, health, releases
from viva.course.gradebook.results import Results
from viva.course.grading.overrides import is_own
from viva.course.releasing import contract
from viva.course.releasing.variants import KEY, Variants, seeds_of
from viva.course.source.machine import Machine
from viva.course.source.markers import require_usual_hidden
from viva.engine import everyday
from viva.engine.blueprint import read_notebook
from viva.engine.kerneldialogue import KernelDialogue, Second, dialogue_of
from viva.engine.kernelsession import STARTING, KernelSession, kernel_of
from viva.engine.session import Died, Pair, examiners_limits
from viva.folder import remove
from viva.notebook.programming import is_python, kernel_name, language_of
from viva.sandbox import bubblewrap
from viva.sandbox.confinement import USUAL, Claims, Sandbox
from viva.sandbox.programattempts import faults
from viva.sandbox.protection import protection
from viva.verdict import CourseError, SandboxError, VivaError
from viva.wording import counted

PYTHON = (3, 11)
NUMPY = (2, 4)
RUN = "read the file, then: viva doctor --run-config"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Diagnosis:
    """One thing looked at; ``remedy`` is a command or a sentence, ``needed`` says whether grading needs it."""

    what: str
    healthy: bool
    remedy: str = ""
    needed: bool = True


def machine() -> Iterator[Diagnosis]:
    """Look at the interpreter, the packages and the sandbox: all that a machine needs that grades for another."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Diagnosis(f"Python {version}", sys.version_info >= PYTHON, "Install Python 3.11 or newer, then: make setup")
    yield from _packages()
    if "TZ" in os.environ:
        problem = zone_problem()
        yield Diagnosis(f"the time zone {plaintext.line(os.environ['TZ'])}", not problem, problem, needed=False)
    yield from _sandbox()


def examine(
    course: Course, config: Config, unread: Mapping[str, list[str]] = MappingProxyType({}), plugins: Sequence[str] = ()
) -> Iterator[Diagnosis]:
    """Look at the machine, the kernel, the course folder, the exchange and the browser.

    ``unread`` are, by configuration file, the settings that only running it would show, and ``plugins`` the settings
    that name what is not installed."""
    yield from machine()
    yield _kernel()
    yield from _other_kernels(course)
    unknown = {name for names in [*unread.values(), plugins] for name in names}
    for file, names in unread.items():
        subject = f"{file} sets {plaintext.some(names, 12)} with code, which doctor does not run"
        yield Diagnosis(subject, False, RUN, needed=False)
    if plugins:
        subject = f"{plaintext.some(plugins, 12)} names a package that is not installed; it may be in the course folder"
        yield Diagnosis(subject, False, RUN, needed=False)
    if "CourseDirectory.db_url" not in unknown:
        yield from _gradebook(course)
        yield from _agreement(course)
    yield from _folders(course, "CourseDirectory.db_url" not in unknown)
    if course.exists():
        yield from _rules(config, unknown)
        yield from _places(config)
        yield from _imports(course)
    yield from _variants(course)
    if unknown.isdisjoint(("Exchange.root", "ExchangeFactory.exchange")):
        yield from _exchange(config)
    browser = find_browser()
    yield Diagnosis(
        f"browser {browser}" if browser else "a browser for the tests of formgrader",
        browser is not None,
        "sudo apt-get install chromium",
        needed=False,
    )


def _typed(path: str | Path) -> str:
    """A path as it is typed into a shell."""
    return shlex.quote(str(path))


def _exchange(config: Config) -> Iterator[Diagnosis]:
    """Whether the exchange's folder can be used; a plugin's, such as ngshare's, may have none."""
    exchange = ExchangeFactory(config=config).exchange
    root = getattr(exchange(config=config), "root", None)
    if root is None:
        yield Diagnosis(f"exchange {exchange.__module__}.{exchange.__qualname__}, which needs no folder", True)
        return
    if is_own(root) and not Path(root).exists():
        yield Diagnosis(f"exchange {root}, created when it is needed", True)
        return
    yield Diagnosis(
        f"exchange {root}",
        os.access(root, os.W_OK | os.X_OK),
        f"mkdir -p {_typed(root)}, or set a writable folder as c.Exchange.root in nbgrader_config.py",
        needed=False,
    )


def find_browser() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _packages() -> Iterator[Diagnosis]:
    for name in ("nbgrader", "nbformat", "jupyterlab", "ipykernel", "numpy", "matplotlib"):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Diagnosis(name, False, "make setup")
            continue
        yield Diagnosis(f"{name} {version}", True)
        if name == "numpy" and tuple(map(int, version.split(".")[:2])) >= NUMPY:
            yield Diagnosis(
                "numpy older than 2.4 (newer ones do not turn a 1x1 array into a float)",
                False,
                "pip install 'numpy<2.4'",
            )
    yield Diagnosis("the command alembic", shutil.which("alembic") is not None, "pip install alembic")


def _kernel() -> Diagnosis:
    try:
        KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        return Diagnosis("the kernel 'python3'", False, f"{sys.executable} -m ipykernel install --sys-prefix")
    return Diagnosis("the kernel 'python3'", True)


def _other_kernels(course: Course) -> Iterator[Diagnosis]:
    """The kernels of the course's notebooks in other languages, and what holds them; nothing where there are none."""
    names: dict[tuple[str, str], None] = {}
    for path in sorted(course.path("source", ".").resolve().glob("*/*.ipynb")):
        with contextlib.suppress(VivaError):
            metadata = read_notebook(path).metadata
            if not is_python(metadata):
                names[kernel_name(metadata), language_of(metadata)] = None
    if not names:
        return
    claims = Claims()
    try:
        slot = claims.pair(0)
        found = "; ".join(faults(course.root, slot))
        yield Diagnosis("the sandbox for kernels of other languages", not found, found or bubblewrap.INSTALL)
        for kernel, language in names if not found else ():
            error = _starts(kernel, language, slot)
            yield Diagnosis(f"the kernel '{kernel}' for {language}, in the sandbox", not error, error)
            if not error and (dialogue := dialogue_of(language)):
                error = _runs_apart(dialogue, kernel, language, slot)
                yield Diagnosis(f"tests in {language} in a second kernel, away from students", not error, error)
    finally:
        claims.close()


def _starts(kernel: str, language: str, slot: int) -> str:
    """Why a kernel does not start in the sandbox; empty where it does."""
    folder = Path(tempfile.mkdtemp(prefix="viva-kernel-"))
    try:
        with KernelSession(kernel_of(kernel, language), folder, None, None, slot=slot):
            return ""
    except SandboxError as error:
        return str(error)
    finally:
        remove(folder)


def _runs_apart(dialogue: type[KernelDialogue], kernel: str, language: str, slot: int) -> str:
    """Why tests do not run in a second kernel; empty where they do."""
    folders = [Path(tempfile.mkdtemp(prefix="viva-kernel-")) for _ in range(2)]
    try:
        second = Second(folders[1], None, examiners_limits(USUAL), (), slot + 1)
        place = kernel_of(kernel, language), folders[0], None, None, None, USUAL, (), slot
        with dialogue(*place, second=second) as session:
            return session.why_beside(STARTING)
    except (Died, SandboxError) as error:
        return str(error)
    finally:
        for folder in folders:
            remove(folder)


def _sandbox() -> Iterator[Diagnosis]:
    protected = protection(all_layers=True)
    for layer in protected.layers:
        fault = f" ({layer.fault})" if layer.fault else ""
        yield Diagnosis(f"sandbox, {layer.name}: {layer.promise}{fault}", layer.works, layer.remedy, layer.needed)
    if protected.level != "none":
        yield from _everyday()
    remedy = "fix the problems above; without that, grading needs --no-sandbox"
    yield Diagnosis(f"protection from student code: {protected.level}", protected.level != "none", remedy)


def _everyday() -> Iterator[Diagnosis]:
    """Whether everyday student code works in the sandbox, with this machine's paths."""
    around = Sandbox.for_candidate(), Sandbox.for_examiner()
    with contextlib.closing(Pair(60.0, around, ("numpy", "matplotlib.pyplot"))) as pair:
        failures = everyday.failures(pair)
    for activity, error in failures.items():
        remedy = (
            "every user must be able to read the Python environment, and it must not contain links. Make it again: "
            "make setup"
        )
        yield Diagnosis(f"what students' code needs to {activity} in the sandbox ({error})", False, remedy)
    if not failures:
        yield Diagnosis("students' code can draw figures, import modules and read files in the sandbox", True)


def _rules(config: Config, unknown: set[str]) -> Iterator[Diagnosis]:
    rules = [rule for rule in missing(config) if rule.setting not in unknown]
    for rule in rules:
        all_of_them = (
            "these lines in nbgrader_config.py add all of these settings"
            if len(rules) > 1
            else "add these lines to nbgrader_config.py"
        )
        remedy = f"{all_of_them}:\n{LINES}" if rule is rules[-1] else ""
        yield Diagnosis(f"{rule.setting}; without it, {rule.without}", False, remedy)
    if not rules:
        yield Diagnosis("this course uses Viva's rules", True)
    try:
        require_usual_hidden(config)
    except (CourseError, TraitError) as error:
        yield Diagnosis("this course's markers of hidden tests", False, str(error))
    for sentence in ignored(config):
        subject, _, instead = sentence.partition(": ")
        yield Diagnosis(subject, False, instead, needed=False)


def _places(config: Config) -> Iterator[Diagnosis]:
    """Whether the folders and variables are there that the configuration lets notebooks read."""
    for name in (settings := Machine(config=config)).folders:
        reachable = os.path.isabs(name) and os.access(name, os.R_OK)
        remedy = "create the folder, let every user read it, or correct c.Machine.folders with an absolute path"
        yield Diagnosis(f"the folder {name}, which notebooks may read", reachable, remedy)
    for name in settings.variables:
        remedy = f"set it before each command: export {name}=VALUE"
        yield Diagnosis(f"the variable {name}, which notebooks may read", name in os.environ, remedy)


def _imports(course: Course) -> Iterator[Diagnosis]:
    """Whether the modules are found here that the released assignments import."""
    needed: dict[str, list[str]] = {}
    absent: dict[str, str] = {}
    for assignment in course.assignments():
        if released := contract.current(course, assignment):
            for name, place in released.present_imports().items():
                needed.setdefault(name, []).append(assignment)
                if not place:
                    absent[name] = released.facts.imports.get(name, "")
    for name, place in absent.items():
        where = f"The release found it in {place}: install it" if place else "Install the package that has it"
        subject = f"{name}, which {plaintext.some(needed[name], 5)} imports"
        yield Diagnosis(subject, False, f"{where} for {sys.executable}, or add its folder to PYTHONPATH")
    if found := sorted(needed.keys() - absent.keys()):
        yield Diagnosis(f"the modules that released assignments import: {', '.join(found)}", True)


def _gradebook(course: Course) -> Iterator[Diagnosis]:
    """Whether the gradebook can be used; one in a file is made when it is needed."""
    if not course.has_gradebook():
        return
    url = course.directory.db_url
    subject = f"gradebook {shown(url)}"
    try:
        health.require(course)
        health.require_whole(course)
    except DBAPIError as error:
        yield Diagnosis(subject, False, trouble(error, url))
    except CourseError as error:
        yield Diagnosis(subject, False, str(error))
    else:
        yield Diagnosis(subject, True)


def _agreement(course: Course) -> Iterator[Diagnosis]:
    """Whether the gradebook has all graded submissions."""
    results = Results.of(course.directory).path
    try:
        names = course.assignments()
        with_retries(lambda: agreement.require_kept(course, names))
        differing = with_retries(lambda: agreement.apart(course, names)) if results.exists() else {}
    except DBAPIError:  # as was said of the gradebook
        return
    except CourseError as error:
        if course.exists():
            yield Diagnosis("some graded submissions in the gradebook", False, str(error))
        return
    for name, students in differing.items():
        who = plaintext.some([plaintext.line(student) for student in students], 5)
        subject = f"equal scores of {who} ({name}) in the gradebook and in {results}"
        yield Diagnosis(subject, False, f"restore the newest copy of the gradebook, or run: viva grade {name}")
    if results.exists() and not differing:
        yield Diagnosis(f"the gradebook matches {results}", True)


def _variants(course: Course) -> Iterator[Diagnosis]:
    """Whether the variants that the configuration speaks of can be known, by a key that is the owner's alone."""
    for name in Variants(config=course.directory.config).assignments:
        try:
            seeds_of(course, name)
        except VivaError as error:
            yield Diagnosis(f"variants of {name}", False, str(error))
        else:
            yield Diagnosis(f"variants of {name}", True)
    key = course.root / KEY
    if key.exists():
        private = not key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        yield Diagnosis(f"{key}, which nobody else can read", private, f"chmod 600 {_typed(key)}", needed=False)


def _folders(course: Course, known_gradebook: bool = True) -> Iterator[Diagnosis]:
    try:
        course.require_folder()
        assignments = course.assignments()
    except CourseError as error:
        yield Diagnosis(f"course {course.root}", False, str(error))
        return
    yield Diagnosis(f"course {course.root} with {counted(len(assignments), 'assignment')}", True)
    writable = os.access(course.root, os.W_OK | os.X_OK)
    yield Diagnosis(
        "the course folder is writable" if writable else "permission to write into the course folder",
        writable,
        f"chmod u+w {_typed(course.root)}",
    )
    closed = any(not folder.stat().st_mode & stat.S_IXOTH for folder in (course.root, *course.root.parents))
    subject = f"other users of this machine {'cannot' if closed else 'can'} open the course folder"
    yield Diagnosis(subject, closed, f"chmod o-rwx {_typed(course.root)}", needed=False)
    unreleased = []
    for name in assignments if known_gradebook else ():
        try:
            releases.notebooks(course, name)
        except DBAPIError:  # as was said of the gradebook
            return
        except CourseError:
            unreleased.append(name)
    if unreleased:
        release = f"viva release {' '.join(map(_typed, unreleased))}"
        yield Diagnosis(f"not released yet: {plaintext.some(unreleased, 12)}", False, release, needed=False)
