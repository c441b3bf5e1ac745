"""Which conditions of the core no fast test holds: one is changed at a time, and the tests of its folder are run.

    sudo .venv/bin/python -m bench.conditions viva/course/examining/links.py
    sudo .venv/bin/python -m bench.conditions viva/submission --sample=10 --seed=1 --quick --reach=/tmp/reach

A comparison is turned or its boundary moved, a `not` comes or goes, `and` and `or` change places, one of their operands
is left out, a guard does not hold. What survives is printed with its line.

Theory of operation. A mutant may do anything, and where it changes the sandbox, hostile code of the tests may escape.
So this program runs in namespaces of its own (processes, mounts, network). The disk is read-only there and /tmp is
memory, to which also goes what is written into Python's environment, as a test of the sandbox must be able to do. This
program is the first process: no other can kill it, and it kills all others after each mutant. A file of that /tmp lies
over the module (`mount --bind`): fork servers, candidates and commands that tests start see the mutant too, and nothing
changes on the disk. Libraries are loaded once, and each run of pytest is a fork.

First the tests of the folder run once, traced in every process: which lines of the package does each test reach? The
trace lies in shared memory, a byte for each line, as candidates can neither write files nor end orderly. A mutant is
tried with the tests that reach its line, those of the module's own test file first. What no test reaches survives at
once. A mutant that takes longer than three times what its tests took counts as killed.

With ``--quick`` only the tests that start no process are traced. What survives them is tried with all tests of the
module's own file, and of other files that are named, once these have passed with nothing changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import fcntl
import importlib
import io
import itertools
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.names import ROOTS
from viva_audit.operators import OTHER_COMPARISON, Scene, dropped_operand, other_comparison, with_changes

PROJECT = Path(__file__).resolve().parents[1]
LIBRARIES = "IPython matplotlib.pyplot nbgrader.api nbgrader.preprocessors numpy pandas scipy".split()
"""What is loaded before the forks."""
OURS = ("viva", "tests", "plugins")
"""Modules that each fork imports anew."""
GRACE = 30
"""Seconds that a run may take beside three times its tests."""
INSIDE = "VIVA_CONDITIONS_INSIDE"
NAMESPACES = "unshare --mount --pid --fork --kill-child --mount-proc --ipc --net".split()
MOUNTS = """
set -e
mount --make-rprivate /
mount --bind "$1" /mnt
mount -o remount,bind,ro /
for memory in /tmp /dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "$memory"; done
mkdir -p /tmp/conditions/above /tmp/conditions/work
mount -t overlay -o "lowerdir=$2,upperdir=/tmp/conditions/above,workdir=/tmp/conditions/work" overlay "$2"
shift 2
exec "$@"
"""
KEPT = Path("/mnt")
"""Where the folder of ``--reach`` is seen: the only one on the disk that can be written."""
SCRATCH = Path("/tmp/conditions")
SHARED = SCRATCH / "shared"
"""What a run of pytest leaves to the next one, as the workers of one run do: the released course."""
IMPORTED = "import"
"""Stands for a test where lines are reached while modules are imported."""
FIXTURE = "fixture "
FATES: dict[int | None, str] = {0: "survived", None: "endless"}
"""What an exit status of pytest says of a mutant; killed where it stands not here."""
TRACE = """
import json, mmap, sys, threading
with open("/tmp/conditions/places.json") as file:
    places = json.load(file)
with open("/tmp/conditions/hits", "r+b") as file:
    hits = mmap.mmap(file.fileno(), 0)
def trace(frame, event, detail):
    start = places.get(frame.f_code.co_filename)
    if start is None:
        return None
    hits[start + frame.f_lineno] = 1
    return trace
threading.settrace(trace)
sys.settrace(trace)
"""
"""What each Python process of a traced run does first, and its forks go on with: a byte for each line."""
STARTED = (
    "import os, sys; os.path.exists('/tmp/conditions/trace.py') and exec(open('/tmp/conditions/trace.py').read(), {})"
)
"""The line of a .pth file for it."""


@dataclass(frozen=True)
class Change:
    """One condition changed: its lines, first and last, how it reads before and after, and the module's whole text."""

    first: int
    last: int
    before: str
    after: str
    text: str


@dataclass
class Reach:
    """What each test, and each fixture of many tests, reached when nothing was changed: its lines by file.

    Of tests also the seconds, and those fixtures. A test that failed already then has no lines.
    """

    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, list[str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def reaching(self, change: Change, file: str) -> set[str]:
        """The tests, and the fixtures, that reach a line of a changed condition."""
        place = set(range(change.first, change.last + 1))
        names = {name for name, lines in self.lines.items() if not place.isdisjoint(lines.get(file, ()))}
        return names | {test for test, used in self.fixtures.items() if not names.isdisjoint(used)}


# --- what is changed


def changes(text: str) -> Iterator[Change]:
    """Each change of each condition in a module's ``text``, which parses all the same."""
    lines = text.encode().splitlines(keepends=True)
    for node, other in conditions(ast.parse(text)):
        first, last = node.lineno, node.end_lineno or node.lineno
        head, tail = lines[first - 1][: node.col_offset], lines[last - 1][node.end_col_offset :]
        padding = "\n" * (last - first)  # so that lines keep their numbers
        part = head + f"({ast.unparse(other)}{padding})".encode() + tail
        changed = b"".join((*lines[: first - 1], part, *lines[last:])).decode()
        ast.parse(changed)
        yield Change(first, last, ast.unparse(node), ast.unparse(other), changed)


def conditions(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The expressions of a module that decide something, each with what could stand in its place.

    Assertions are left out, as they decide nothing, and what stands in an f-string, whose place Python 3.11 gets wrong.
    """
    tests: set[ast.expr] = set()
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):  # from the outside in
        if node in skipped or isinstance(node, ast.Assert | ast.JoinedStr | ast.AnnAssign | ast.arg):
            parts = [node.annotation] if isinstance(node, ast.AnnAssign | ast.arg) else ast.iter_child_nodes(node)
            skipped.update(part for part in parts if part)
            if not isinstance(node, ast.AnnAssign | ast.arg):
                continue
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.If(test=ast.Compare(left=ast.Name("__name__"))):
                skipped.add(node.test)
            case ast.If(test=test, body=[*_, ast.Return() | ast.Raise() | ast.Continue() | ast.Break()], orelse=[]):
                yield test, ast.BoolOp(ast.And(), [test, ast.Constant(False)])  # which binds names all the same
                tests.add(test)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                tests.add(test)
            case ast.comprehension(ifs=ifs):
                tests.update(ifs)
            case ast.match_case(guard=ast.expr() as guard):
                tests.add(guard)
            case ast.Compare():
                for place, operator in enumerate(node.ops):
                    for other in OTHER_COMPARISON[type(operator)]:
                        yield node, with_changes(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
            case ast.BoolOp():
                tests.update(node.values)
                yield from ((node, other) for other in other_comparison(node, Scene()))
                if len(node.values) == 2:
                    yield from ((node, other) for other in dropped_operand(node, Scene()))
                else:
                    for place in range(len(node.values)):
                        yield node, with_changes(node, values=node.values[:place] + node.values[place + 1 :])
            case ast.UnaryOp(op=ast.Not()):
                yield from ((node, other) for other in dropped_operand(node, Scene()))
        if node in tests and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
            yield node, ast.UnaryOp(ast.Not(), node)


def tests_of(module: Path) -> tuple[Path, Path]:
    """A module's own test file, which need not be there, and the folder of the tests that hold its package."""
    parts = module.relative_to(PROJECT).with_suffix("").parts
    root = PROJECT / "tests" if parts[0] == "viva" else PROJECT.joinpath(*parts[:2], "tests")
    within = parts[1:] if parts[0] == "viva" else parts[3:]
    own = root.joinpath(*within[:-1], f"test_{within[-1]}.py")
    return own, root / within[0] if parts[0] == "viva" and len(within) > 1 else root


# --- how it is run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", type=Path, help="modules, or folders of them")
    parser.add_argument("--sample", type=int, help="so many changes of all modules together; all where it is left out")
    parser.add_argument("--seed", type=int, default=1, help="which changes the sample has")
    parser.add_argument("--without", nargs="*", default=[], help="ends of paths of modules that are left out")
    parser.add_argument("--lines", help="only the changes of these lines: 12 or 12-30")
    parser.add_argument("--own", action="store_true", help="only the tests of the module's own file, not its folder's")
    parser.add_argument(
        "--quick",
        nargs="*",
        metavar="FILE",
        help="the folder's quick tests, then all of the module's own file and these",
    )
    parser.add_argument("--reach", type=Path, help="a folder that keeps what each test reaches, for the next run")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no other mutant after so many of trying"
    )
    options = parser.parse_args()
    if INSIDE not in os.environ:
        kept = options.reach.absolute() if options.reach else KEPT
        kept.mkdir(parents=True, exist_ok=True)
        enter(kept)
    prepare()
    paths = [path.absolute() for path in options.modules]
    modules = [module for path in paths for module in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    for line in measured([one for one in modules if not str(one).endswith(tuple(options.without))], options):
        print(line, flush=True)


def enter(kept: Path) -> None:
    """Start this program again, in namespaces of its own; only the folder ``kept`` can be written."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["sh", "-c", MOUNTS, "sh", str(kept), sys.prefix, sys.executable, "-m", "bench.conditions", *sys.argv[1:]]
    environment = os.environ | {INSIDE: "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    os.execvpe("unshare", [*NAMESPACES, *user, *command], environment)


def prepare() -> None:
    """Bring the loopback up, and load the libraries."""
    if os.getpid() != 1:
        sys.exit("This program is not the first process of a namespace. Start it without VIVA_CONDITIONS_INSIDE.")
    SHARED.mkdir(parents=True)
    hook = next(Path(sysconfig.get_path("purelib")).glob("*.pth"))
    hook.write_text(f"{STARTED}\n{hook.read_text()}")
    os.environ["MPLCONFIGDIR"] = str(SCRATCH)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as loopback:
        fcntl.ioctl(loopback, 0x8914, struct.pack("16sh", b"lo", 0x41))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
    for name in LIBRARIES:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]


def measured(modules: list[Path], options: argparse.Namespace) -> Iterator[str]:
    """A line for each survivor, a row for each module with changes drawn, and a row for each folder at the end."""
    start, reaches = time.monotonic(), dict[Path, Reach]()
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    if options.own:
        modules = [module for module in modules if tests_of(module)[0].exists()]
    low, _, high = (options.lines or f"0-{sys.maxsize}").partition("-")
    every = {module: list(conditions(ast.parse(module.read_text(encoding="utf-8")))) for module in modules}
    lines = {module: [node.lineno for node, _ in found] for module, found in every.items()}
    drawn = [
        (module, place)
        for module in modules
        for place, line in enumerate(lines[module])
        if int(low) <= line <= int(high or low)
    ]
    if options.sample is not None:
        drawn = random.Random(options.seed).sample(drawn, min(options.sample, len(drawn)))
    for module in modules:
        name, text = str(module.relative_to(PROJECT)), module.read_text(encoding="utf-8")
        places = {place for one, place in drawn if one == module}
        few = [change for place, change in enumerate(changes(text)) if place in places] if places else []
        own, folder = tests_of(module)
        held_by = own if options.own else folder
        if few and held_by not in reaches:
            before = time.monotonic()
            reaches[held_by] = reach_of(
                held_by, "" if options.quick is None else "quick", KEPT if options.reach else SCRATCH
            )
            start += time.monotonic() - before
        counts: Counter[str] = Counter(all=len(every[module]))
        files = [str(own)] * own.exists() + (options.quick or [])
        whole: dict[str, float] | None = None
        with mounted(module) as write:
            for change in sorted(few, key=lambda change: change.first):
                if time.monotonic() - start > options.seconds:
                    break
                write(change.text)
                fate = fate_of(change, name, str(own.relative_to(PROJECT)), reaches[held_by])
                if options.quick is not None and files and fate in ("survived", "unreached"):
                    if whole is None:
                        write(text)
                        whole = passing(files)
                        write(change.text)
                    if whole:
                        fate = FATES.get(tried(list(whole), sum(whole.values())), "killed")
                counts.update(("tried", fate))
                if fate in ("survived", "unreached"):
                    yield f"{name}:{change.first}: {fate}: {change.before}  ->  {change.after}"
        if few:
            yield row(name, counts)
        sums[str(folder.relative_to(PROJECT))].update(counts)
    for name, counts in sums.items():
        yield row(name, counts)


def passing(files: list[str]) -> dict[str, float]:
    """The tests of some files that pass where nothing is changed, each with its seconds."""
    report = SCRATCH / "passing.json"
    forked(lambda: pytest.main(arguments(*files), plugins=[Passing(report)]), None)
    return json.loads(report.read_text(encoding="utf-8"))


def row(name: str, counts: Counter[str]) -> str:
    """`| where | changes that there are | tried | killed | of these by the time limit | survivors |`"""
    killed = counts["killed"] + counts["endless"]
    left = counts["survived"] + counts["unreached"]
    return f"| {name} | {counts['all']} | {counts['tried']} | {killed} | {counts['endless']} | {left} |"


@contextlib.contextmanager
def mounted(module: Path) -> Iterator[Callable[[str], object]]:
    """A function that gives the module another text, in this namespace."""
    mutant = SCRATCH / "mutant.py"
    shutil.copyfile(module, mutant)
    subprocess.run(["mount", "--bind", mutant, module], check=True)
    try:
        yield lambda text: mutant.write_text(text, encoding="utf-8")
    finally:
        subprocess.run(["umount", module], check=True)


def reach_of(folder: Path, marker: str, kept: Path) -> Reach:
    """What the fast tests of a folder, or a file, reach: as an earlier run has ``kept`` it, or from a run."""
    file = kept / f"{folder.relative_to(PROJECT)}{marker and '-'}{marker}.json".replace("/", "-")
    if not file.exists():
        report = SCRATCH / "reach.json"
        paths = [str(folder)] if folder.name != "tests" else [str(path) for path in folder.glob("test_*.py")]
        print(f"(the tests of {folder.relative_to(PROJECT)} run once, traced)", file=sys.stderr, flush=True)
        paths += ["-m", marker] * bool(marker)
        status = forked(lambda: pytest.main(arguments(*paths), plugins=[Recorder(report)]), None)
        (SCRATCH / "trace.py").unlink()
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            sys.exit(f"The tests of {folder} could not be run:\n{(SCRATCH / 'output').read_text(errors='replace')}")
        with contextlib.suppress(OSError):  # where nothing is kept
            shutil.copyfile(report, file)
        file = file if file.exists() else report
    return Reach(**json.loads(file.read_text(encoding="utf-8")))


def fate_of(change: Change, name: str, own: str, reach: Reach) -> str:
    """What becomes of a mutant: killed, endless (killed by its time limit), survived, unreached."""
    reaching = reach.reaching(change, name)
    if IMPORTED in reaching:  # by any test that imports the module
        reaching |= {test for test in reach.lines if name in reach.lines[test] or test.startswith(own)}
    tests = reaching & reach.seconds.keys() & reach.lines.keys()
    first = {test for test in tests if test.startswith(own)}
    for step in (first, tests - first):
        if f"{FIXTURE}released" in reaching:
            shutil.rmtree(SHARED / "released", ignore_errors=True)
        status = tried(sorted(step, key=lambda test: reach.seconds[test]), sum(reach.seconds[test] for test in step))
        if f"{FIXTURE}released" in reaching:
            shutil.rmtree(SHARED / "released", ignore_errors=True)
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return "endless" if status is None else "killed"
    return "survived" if tests else "unreached"


def tried(tests: list[str], seconds: float) -> int | None:
    """The exit status of pytest with some tests, which take so many seconds; None where its time ran out."""
    if not tests:
        return pytest.ExitCode.OK
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return forked(lambda: pytest.main(arguments("-x", *files), plugins=[Choice(tests)]), GRACE + 3 * seconds)


def arguments(*words: str) -> list[str]:
    return ["-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", f"--basetemp={SHARED / 'base'}", *words]


def forked(work: Callable[[], object], limit: float | None) -> int | None:
    """The exit status of ``work`` in a fork, None where it took more than ``limit`` seconds. Nothing of it remains."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        sink = os.open(SCRATCH / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(number, "w"), write_through=True) for number in (1, 2))
        os.environ.pop(INSIDE)
        status = 99
        try:
            status = int(work())  # type: ignore[call-overload]
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + (limit or float("inf"))
    status: int | None = None
    while time.monotonic() < end:  # the first process of a namespace reaps all orphans
        child, result = os.waitpid(-1, os.WNOHANG)
        if child == pid:
            status = os.waitstatus_to_exitcode(result)
            break
        if child == 0:
            time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # all but this process
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    for path in Path("/tmp").iterdir():
        if path != SCRATCH:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return status


class Choice:
    """A plug-in of pytest that runs only some tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: place for place, test in enumerate(tests)}

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> str | None:
        """As a worker of a run this one takes the released course that lies there."""
        if fixturedef.argname != "worker_id":
            return None
        fixturedef.cached_result = ("gw0", None, None)
        return "gw0"

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that is skipped now, which was not, has noticed the change."""
        if report.skipped:
            self.session.shouldfail = f"{report.nodeid} was skipped."

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if plain(item) in self.order), key=lambda item: self.order[plain(item)]
        )


class Passing:
    """A plug-in of pytest that writes to ``report`` which tests pass, with their seconds."""

    def __init__(self, report: Path) -> None:
        self.report, self.seconds = report, dict[str, float]()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.test, start = plain(item), time.monotonic()
        self.seconds[self.test] = 0.0
        yield
        if self.test in self.seconds:
            self.seconds[self.test] = round(time.monotonic() - start, 2)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.seconds.pop(self.test, None)

    def pytest_sessionfinish(self) -> None:
        self.report.write_text(json.dumps(self.seconds), encoding="utf-8")


class Recorder:
    """A plug-in of pytest that writes to ``report`` what each test that passes reaches, as ``Reach``."""

    def __init__(self, report: Path) -> None:
        self.report, self.reach, self.failed = report, Reach(), set[str]()
        paths = [path for root in ROOTS for folder in PROJECT.glob(root) for path in sorted(folder.rglob("*.py"))]
        files = {path: len(path.read_bytes().splitlines()) + 1 for path in paths}
        ends = list(itertools.accumulate(files.values()))
        self.places = {str(path): end - files[path] for path, end in zip(files, ends, strict=True)}
        self.numbered = [(str(path.relative_to(PROJECT)), n) for path, count in files.items() for n in range(count)]
        (SCRATCH / "places.json").write_text(json.dumps(self.places))
        (SCRATCH / "hits").write_bytes(bytes(ends[-1]))
        (SCRATCH / "hits").chmod(0o666)
        (SCRATCH / "trace.py").write_text(TRACE)
        self.scope: dict = {}
        exec(TRACE, self.scope)

    def taken(self) -> dict[str, list[int]]:
        """The lines by file that any process reached since this was asked last."""
        hits, lines = self.scope["hits"], defaultdict(list)
        data = hits[:]
        place = data.find(1)
        while place >= 0:
            hits[place] = 0
            file, line = self.numbered[place]
            lines[file].append(line)
            place = data.find(1, place + 1)
        return lines

    def note(self, name: str) -> None:
        """Add what was reached to what a test, or a fixture of many tests, reaches."""
        before = self.reach.lines.setdefault(name, {})
        for file, lines in self.taken().items():
            before[file] = sorted({*before.get(file, ()), *lines})

    def pytest_runtestloop(self) -> None:
        self.note(IMPORTED)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> Iterator[None]:
        if fixturedef.scope != "function":
            self.note(self.test)
        yield
        if fixturedef.scope != "function":
            self.note(f"{FIXTURE}{fixturedef.argname}")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.test, start = plain(item), time.monotonic()
        sys.settrace(self.scope["trace"])  # which a test may have ended
        yield
        self.note(self.test)
        self.reach.seconds[self.test] = round(time.monotonic() - start, 2)
        self.reach.fixtures[self.test] = [
            f"{FIXTURE}{name}" for name in getattr(item, "fixturenames", ()) if f"{FIXTURE}{name}" in self.reach.lines
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(self.test)
        if report.skipped:
            self.reach.lines.pop(self.test, None)

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        for name in self.failed:
            self.reach.lines.pop(name, None)
        self.reach.failed = sorted(self.failed)
        self.report.write_text(json.dumps(self.reach.__dict__), encoding="utf-8")


def plain(item: pytest.Item) -> str:
    """A test's name without the group that pytest-xdist adds."""
    return item.nodeid.rpartition("@")[0] if "@" in item.nodeid.rpartition("]")[2] else item.nodeid


if __name__ == "__main__":
    main()
