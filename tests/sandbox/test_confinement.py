"""The sandbox, probed: each attack with it (must fail), without it (must succeed), and with older versions of Landlock.

The probes live in ``sandbox_probe.py``, which is started by exec, so that the threads of pytest do not matter. What
kills, bombs, mounts or writes elsewhere runs only in the sandbox, and what would kill bystanders only in a process
namespace of its own. Everything that is owned, changed or removed lies in a folder that the test has made.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import pytest

from tests import sandbox_probe
from tests.sandbox_probe import ATTACKS, SECRET, WORKS
from viva.sandbox import landlock
from viva.sandbox.confinement import FIRST_UID, Limits, Sandbox, overflowing
from viva.sandbox.privileges import COUNTED_BY_NAMESPACE
from viva.sandbox.protection import protection

PROBE = Path(sandbox_probe.__file__)
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = 65534
ROOT = os.geteuid() == 0
CLEAN = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
}
LIBRARIES = [
    "numpy",
    "scipy",
    "pandas",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "IPython.core.pylabtools",
]
FOR_THE_EXAMINER = ["compute", "draw", "know_time_zones", "use_the_standard_library"]


def kernel_can() -> bool:
    """Whether the kernel has what a sandbox needs; asked of the kernel alone: a broken sandbox skips no test."""
    try:
        return landlock.version() > 0 and "\nSeccomp:" in Path("/proc/self/status").read_text()
    except OSError:
        return False


def kernel_counts_threads_by_namespace() -> bool:
    return tuple(map(int, os.uname().release.split(".")[:2])) >= COUNTED_BY_NAMESPACE


full = pytest.mark.skipif(not kernel_can(), reason="this kernel has no Landlock or no seccomp, or a container hides it")
tmpfs = pytest.mark.skipif(not protection().works("namespaces"), reason="this machine has no namespaces")
pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.usefixtures("processes")]


@pytest.fixture(scope="module")
def world():
    """A course, a home and a neighbour that anyone may read or write, so that only the sandbox protects them."""
    folder = Path(tempfile.mkdtemp(prefix="viva-sandbox-", dir="/tmp"))
    for name in ("course/source/ps1", "home", "neighbour", "data", "scratch", "config"):
        (folder / name).mkdir(parents=True)
    files = {
        "source": "course/source/ps1/ps1.ipynb",
        "gradebook": "course/gradebook.db",
        "secret": "course/secret",
        "known": "course/secret",
    }
    for name in {*files.values(), "home/letter", "neighbour/notes.txt", "data/numbers.csv"}:
        (folder / name).write_bytes(SECRET)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    places = {name: str(folder / path) for name, path in files.items()}
    places |= {name: str(folder / name) for name in ("home", "neighbour", "data", "scratch")}
    places["libraries"] = sysconfig.get_path("purelib")
    with tempfile.NamedTemporaryFile(prefix="viva-sandbox-", dir="/dev/shm") as shared:
        Path(shared.name).chmod(0o666)
        yield places | {"uid": None, "shared": shared.name}
    shutil.rmtree(folder)


def run(places, probes, *, abi=None, private_tmp=False, examiner=False, **job):
    """Run probes behind one sandbox; returns their outcomes by name and the median cost of the sandbox in ms."""
    return run_each(places, [behind(probes, abi=abi, private_tmp=private_tmp, examiner=examiner)], **job)[0]


def behind(probes, *, abi=None, private_tmp=False, examiner=False, boxed=False) -> dict:
    return {"probes": list(probes), "abi": abi, "private_tmp": private_tmp, "examiner": examiner, "boxed": boxed}


def run_each(places, sandboxes, *, user=None, python=sys.executable, before=(), change=(), **job):
    """Run probes behind several sandboxes, in forks of one process."""
    places = {**places, **dict(change)}
    usual = {"sandboxed": True, "small": True, "load": [], "namespace": ""}
    assert job.keys() <= usual.keys()
    environment = CLEAN | {"HOME": places["home"], "MPLCONFIGDIR": str(Path(places["scratch"]).parent / "config")}
    answer = subprocess.run(
        [*before, python, "-B", str(PROBE)],
        input=json.dumps({**usual, **job, "places": places, "sandboxes": sandboxes}),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        cwd="/",
        **({} if user is None else {"user": user, "group": user, "extra_groups": []}),
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
    return json.loads(answer.stdout)


def ordinary(*, small_tmp: bool = False, counted: bool = False) -> list[str]:
    return [
        name
        for name, probe in ATTACKS.items()
        if not probe.namespace and not probe.slow and (small_tmp or not probe.tmpfs) and (counted or not probe.counted)
    ]


def got_through(outcomes: dict[str, str], own_root: bool = False) -> dict[str, str]:
    """The probes that the sandbox did not stop, or not as it should.

    With a root folder of its own, a file that Landlock would deny is not there, or cannot be written to.
    """
    instead = {"EACCES": ("ENOENT", "EROFS"), "EXDEV": ("EROFS",)} if own_root else {}
    return {
        name: outcome
        for name, outcome in outcomes.items()
        if outcome.startswith("fault: ")
        or not any(other in outcome for error in ATTACKS[name].errors for other in (error, *instead.get(error, ())))
    }


def failing(outcomes: dict[str, str]) -> dict[str, str]:
    return {name: outcome for name, outcome in outcomes.items() if outcome != "ok"}


# Attacks


def test_without_the_sandbox_every_attack_succeeds(world):
    alone = [name for name, probe in ATTACKS.items() if probe.alone and (ROOT or not probe.root)]
    assert failing(run(world, alone, sandboxed=False)[0]) == {}


@full
@pytest.mark.parametrize("abi", [None, 1, 2, 3, 4])
def test_the_sandbox_stops_every_attack(world, abi):
    assert got_through(run(world, ordinary(), abi=abi)[0]) == {}


@full
@pytest.mark.slow
def test_the_sandbox_stops_what_takes_its_time(world):
    assert got_through(run(world, [name for name, probe in ATTACKS.items() if probe.slow])[0]) == {}


@full
@tmpfs
@pytest.mark.parametrize("abi", [None, 1])
def test_the_sandbox_with_a_private_tmpfs_stops_every_attack(world, abi):
    assert (
        got_through(
            run(
                world,
                ordinary(small_tmp=True, counted=ROOT or kernel_counts_threads_by_namespace()),
                abi=abi,
                private_tmp=True,
            )[0],
            own_root=True,
        )
        == {}
    )


@full
def test_the_sandbox_of_the_examiner_stops_every_attack(world):
    assert got_through(run(world, ordinary(), examiner=True)[0]) == {}


@full
def test_killing_everybody_is_stopped(world):
    """Only in a process namespace made for it: without the sandbox the bystander there dies."""
    apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "--net"]
    here = os.readlink("/proc/self/ns/pid")
    asked = [*apart, sys.executable, "-c", "import os; print(os.getpid(), os.readlink('/proc/self/ns/pid'))"]
    there = subprocess.run(asked, capture_output=True, text=True).stdout.split() if shutil.which("unshare") else []
    if not there:
        pytest.skip("no process namespace can be made here")
    assert there[0] == "1" and there[1] != here
    sandboxed, _ = run(world, ["kill_everybody"], before=apart, namespace=here)
    assert sandboxed == {"kill_everybody": "EPERM", "bystander": "alive"}
    alone, _ = run(world, ["kill_everybody"], before=apart, namespace=here, sandboxed=False)
    assert alone == {"kill_everybody": "ok", "bystander": "killed"}


def test_killing_everybody_is_never_tried_among_others(world):
    with pytest.raises(AssertionError, match="_require_own_namespace"):
        run(world, ["kill_everybody"], namespace=os.readlink("/proc/self/ns/pid"))


def needs_system_python():
    if not ROOT:
        pytest.skip("only root can become another user")
    asked = "import sys; sys.exit(sys.version_info < (3, 11))"
    if not os.access(SYSTEM_PYTHON, os.X_OK) or subprocess.run([SYSTEM_PYTHON, "-c", asked]).returncode:
        pytest.skip(f"{SYSTEM_PYTHON} is not Python 3.11 or newer, and {sys.executable} may not be readable for others")
    if not os.stat(PROBE).st_mode & 0o004 or not all(path.stat().st_mode & 0o001 for path in PROBE.parents):
        pytest.skip(f"others cannot read {PROBE}")


@pytest.mark.thorough
@full
@pytest.mark.parametrize("abi", [None, 1])
def test_root_takes_a_user_of_its_own_where_that_user_can_read_the_interpreter(world, abi):
    needs_system_python()
    attacks, _ = run(world, ordinary(counted=True), python=SYSTEM_PYTHON, abi=abi)
    assert got_through(attacks) == {}
    state, _ = run(world, ["stand_as_it_should"], python=SYSTEM_PYTHON, change={"uid": FIRST_UID})
    assert failing(state) == {}


@full
@pytest.mark.parametrize("private_tmp", [False, True])
@pytest.mark.slow
def test_a_normal_user_is_sandboxed_in_too(world, private_tmp):
    needs_system_python()
    user = {"python": SYSTEM_PYTHON, "user": NOBODY, "private_tmp": private_tmp}
    counted = private_tmp and kernel_counts_threads_by_namespace()
    attacks, cost = run(world, ordinary(small_tmp=private_tmp, counted=counted), **user)
    assert got_through(attacks, own_root=private_tmp) == {}
    state, _ = run(world, ["stand_as_it_should"], change={"uid": NOBODY}, **user)
    assert failing(state) == {}
    print(f"\nthe sandbox costs a normal user {cost:.1f} ms a fork ({private_tmp=})")


def test_without_the_sandbox_a_normal_user_gets_through(world):
    needs_system_python()
    alone = [name for name, probe in ATTACKS.items() if probe.alone and not probe.root]
    restricted_by_kernel = {"hard_link_into_scratch"}  # fs.protected_hardlinks
    outcomes, _ = run(world, set(alone) - restricted_by_kernel, python=SYSTEM_PYTHON, user=NOBODY, sandboxed=False)
    assert failing(outcomes) == {}


# What must work


WORK = {
    "plain": behind(WORKS),
    "landlock 1": behind(WORKS, abi=1),
    "private tmpfs": behind(WORKS, private_tmp=True),
    "examiner": behind(FOR_THE_EXAMINER, examiner=True),
}


@pytest.fixture(scope="module")
def work(world):
    """What came of the ordinary work in each sandbox, all in forks of one fork server."""
    possible = [name for name in WORK if name != "private tmpfs" or protection().works("namespaces")]
    return dict(
        zip(possible, run_each(world, [WORK[name] for name in possible], small=False, load=LIBRARIES), strict=True)
    )


@full
@pytest.mark.parametrize("name", WORK)
@pytest.mark.slow
def test_ordinary_work_goes_on(work, name):
    if name not in work:
        pytest.skip("this machine has no namespaces")
    outcomes, cost = work[name]
    # Version 1 of Landlock cannot allow it; shutil.move then copies.
    assert failing(outcomes) == ({"rename_between_folders": "EXDEV"} if name == "landlock 1" else {})
    print(f"\nthe sandbox costs {cost:.1f} ms on a fork of a fork server ({name})")


@full
def test_the_sandbox_costs_little(world):
    _, cost = run(world, ["read_the_data", "truncate_own_files", "touch_files"] * 3)
    print(f"\nthe sandbox costs {cost:.1f} ms on a fork of a small process, without namespaces")
    assert cost < 20, "ten times what it should"


# The processes around it


def start(program: str, *arguments: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess:
    """Run a program in which a fork sandboxes itself in."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PROBE.parents[1])!r})\n{program}", *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        env=os.environ | {"PATH": path},
    )


@full
def test_a_fork_dies_with_its_parent(tmp_path):
    program = """
import os, signal, time
from viva.sandbox import confinement
from viva.sandbox.landlock import readable_by_default
around, parent, (reader, writer) = confinement.Sandbox(readable_by_default()), os.getpid(), os.pipe()
child = os.fork()
if child == 0:
    confinement.enter(around, sys.argv[1], [1, 1, 1, writer], parent=parent)
    os.write(3, b"r")
    time.sleep(20)
    os._exit(0)
os.close(writer)
print(child if os.read(reader, 1) else "no sandbox", flush=True)
signal.raise_signal(signal.SIGKILL)
"""
    (tmp_path / "scratch").mkdir(mode=0o700)
    started = start(program, str(tmp_path / "scratch"))
    assert started.returncode == -signal.SIGKILL
    status = Path("/proc", str(int(started.stdout)), "status")
    deadline = time.monotonic() + 5
    while (alive := lives(status)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive


def lives(status: Path) -> bool:
    try:
        return "\nState:\tZ" not in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


FAULTS = {
    "slot": "slot=1000",
    "session": "parent=1",
    "descriptors": "keep=[0, 1, 2, 99]",
    "scratch": "scratch='/nonexistent'",
    "namespaces": "limits=confinement.Limits(scratch_bytes=4096), private_tmp=True, scratch=filled",
    "limits": "limits=confinement.Limits(memory_bytes=1 << 70)",
    "landlock": "readable=('/nonexistent',)",
    "root": "readable=('/nonexistent',), other_user=True",  # there is no user that could read it
}


@full
@pytest.mark.parametrize("step", FAULTS)
def test_a_sandbox_that_cannot_be_raised_names_the_step(step, tmp_path):
    if step == "namespaces" and not protection().works("namespaces"):
        pytest.skip("this machine has no namespaces")
    program = f"""
import os
from viva.sandbox import confinement
filled = sys.argv[1]
def attempt(scratch=None, readable=(), keep=(0, 1, 2, 3), parent=None, slot=0, **known):
    confinement.enter(confinement.Sandbox(readable, **known), scratch, keep, parent=parent, slot=slot)
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.dup2(writer, 3)
    try:
        attempt({FAULTS[step]})
        os.write(3, b"a sandbox")
    except confinement.SandboxError as error:
        os.write(3, str(error).encode())
    os._exit(0)
os.close(writer)
print(os.read(reader, 1000).decode())
"""
    (tmp_path / "scratch").mkdir(mode=0o700)
    (tmp_path / "scratch" / "data").write_bytes(bytes(100_000))
    told = start(program, str(tmp_path / "scratch"))
    assert f"step '{step}'" in told.stdout and "viva doctor" in told.stdout, told.stdout + told.stderr


@full
@pytest.mark.parametrize("slot", [-1, 1000, 20_000])
def test_a_slot_out_of_its_range_is_refused(slot):
    program = (
        "from viva.sandbox import confinement\n"
        f"confinement.enter(confinement.Sandbox(()), None, (0, 1, 2), slot={slot})"
    )
    assert f"step 'slot': the slot {slot} must be 0 to 999" in start(program).stderr


@full
@pytest.mark.parametrize("what", ["open to others", "a link", "a file"])
def test_a_scratch_folder_that_is_not_private_is_refused_and_left_as_it_is(what, tmp_path):
    scratch, real = tmp_path / "scratch", tmp_path / "real"
    real.mkdir(mode=0o700)
    match what:
        case "open to others":
            scratch.mkdir()
            scratch.chmod(0o755)
        case "a link":
            scratch.symlink_to(real)
        case "a file":
            scratch.touch(0o600)
    before = scratch.lstat()
    program = "from viva.sandbox import confinement\nconfinement.enter(confinement.Sandbox(()), sys.argv[1], (0, 1, 2))"
    assert "step 'scratch'" in start(program, str(scratch)).stderr
    assert (scratch.lstat().st_uid, scratch.lstat().st_mode) == (before.st_uid, before.st_mode)


@full
def test_without_landlock_no_sandbox_rises(world):
    outcomes, _ = run(world, ["compute"], abi=0)
    assert "step 'landlock'" in outcomes["compute"]


@full
@pytest.mark.skipif(not ROOT, reason="only root can give a folder to another user")
def test_scratch_of_another_user_is_refused(world):
    needs_system_python()
    program = "from viva.sandbox import confinement\nconfinement.enter(confinement.Sandbox(()), sys.argv[1], (0, 1, 2))"
    scratch = Path(tempfile.mkdtemp(dir=world["scratch"]))
    os.chown(scratch, NOBODY, NOBODY)
    assert "step 'scratch'" in start(program, str(scratch)).stderr
    assert scratch.stat().st_uid == NOBODY


# The sandbox as data


def test_a_scratch_folder_with_too_much_in_it_overflows(tmp_path):
    limits = Limits(scratch_bytes=100_000, scratch_files=5)
    assert not overflowing(tmp_path, limits)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "large").write_bytes(bytes(200_000))
    assert overflowing(tmp_path, limits)
    (tmp_path / "folder" / "large").unlink()
    assert not overflowing(tmp_path, limits)
    for number in range(5):
        (tmp_path / "folder" / str(number)).touch()
    assert overflowing(tmp_path, limits)


def test_the_size_of_a_file_with_holes_is_what_it_takes_on_disk(tmp_path):
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(10**9)
    assert not overflowing(tmp_path, Limits())


def test_the_examiner_has_larger_limits_and_no_private_folder():
    candidate, examiner = Sandbox.for_candidate(["/data"]), Sandbox.for_examiner(["/data"])
    assert candidate.readable == examiner.readable and "/data" in candidate.readable
    assert candidate.private_tmp == protection().works("namespaces") and not examiner.private_tmp
    assert examiner.limits.memory_bytes > candidate.limits.memory_bytes
