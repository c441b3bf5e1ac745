"""The wall: how a process that runs someone else's code gives up everything but its own work.

Theory of operation. A warm parent forks one process per submission. The fork calls ``enter`` before it runs a line of
the notebook, and from then on it is held by the kernel, not by Python: nothing the student's interpreter does can
undo a step. No outer program, no privilege and no daemon is needed. In this order, because each step needs
something that a later one takes away:

    session       a session of its own, die with the parent, Python's own signal handlers, umask 077
    descriptors   the given ones on 0, 1, 2, ...; every other is closed
    namespaces    (where they work) a private tmpfs of limited size over the scratch folder, the data copied in
    scratch       the working directory, and the only folder that can be written to
    limits        CPU, address space, file size, descriptors, stack; no core dump
    root          root takes a user id of its own, or drops every capability
    landlock      only ``Wall.readable`` can be read, only scratch be written to; /proc is closed
    seccomp       last, because it forbids most of the above: no process, no socket, no reach to other processes

What a fork may still do: compute, start threads, work in scratch, answer on the descriptors it was given, and learn
by ``stat`` whether a path exists. What the parent holds in memory and environment, the fork can read: the parent must
have been started by exec with a clean environment, hold no test text, and be single-threaded. Without namespaces the
size of scratch is the caller's to watch (``overflowing``). A library written into scratch can be loaded (only the tmpfs
denies that); it can do no more than the code that wrote it.

Where the kernel has no Landlock, bubblewrap goes around the warm parent instead (``bubblewrap_command``), and the
forks do the rest (``landlock_abi=0``). Where there is neither, ``protection`` says "none" and nothing may be graded
without an explicit word. A step that fails raises WallError: the machine's fault or ours, never the student's.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from viva.syscalls import call, filter_calls, prctl
from viva.verdict import WallError

MB, GB = 1 << 20, 1 << 30
FIRST_UID = 60578
"""User ids from here on are given to the slots of a grader that runs as root; nothing else uses them on Linux."""

_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone", "/usr/share/locale", "/etc/mime.types", "/dev/urandom"),
)


@dataclass(frozen=True)
class Limits:
    """What one process may use; memory is on top of what its parent uses at the fork."""

    cpu_seconds: int = 60
    memory_bytes: int = 2 * GB
    file_bytes: int = 64 * MB
    open_files: int = 256
    stack_bytes: int = 8 * MB
    scratch_bytes: int = 64 * MB
    scratch_files: int = 2000


LARGER = Limits(cpu_seconds=300, memory_bytes=4 * GB, file_bytes=256 * MB, open_files=1024)


@dataclass(frozen=True)
class Wall:
    """What one kind of process may reach.

    ``landlock_abi`` caps the version of Landlock that is used; 0 means that bubblewrap stands around the parent.
    """

    readable: tuple[str, ...]
    limits: Limits = Limits()
    landlock_abi: int | None = None
    private_tmp: bool = False

    @classmethod
    def for_candidate(cls, readable: Iterable[str | Path] = (), limits: Limits = Limits(), **known) -> Wall:
        """The wall around a student's code; ``known`` overrides what ``protection`` found out about this machine."""
        found = protection()
        known = {
            "private_tmp": found.works("namespaces"),
            "landlock_abi": 0 if found.level == "fallback" else None,
            **known,
        }
        return cls((*readable_by_default(), *map(str, readable)), limits, **known)

    @classmethod
    def for_examiner(cls, readable: Iterable[str | Path] = (), limits: Limits = LARGER, **known) -> Wall:
        """The wall around the instructor's tests: the same reach, larger limits, no private folder."""
        return replace(cls.for_candidate(readable, limits, **known), private_tmp=False)


def readable_by_default() -> tuple[str, ...]:
    """The interpreter's libraries, the system's, fonts and time zones: never a home, a course or /proc."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    inside = ("lib", "lib64", "pyvenv.cfg", "share/zoneinfo", "share/fonts", "etc/fonts")
    found = {Path(prefix) / name for prefix in prefixes for name in inside}
    found |= {Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    found |= {Path(__file__).resolve().parent, *map(Path, _SYSTEM)}
    found = {path for path in found if path.exists()}
    return tuple(sorted(str(path) for path in found if not found.intersection(path.parents)))


def enter(
    wall: Wall,
    scratch: str | Path | None,
    keep_fds: Sequence[int],
    *,
    slot: int = 0,
    parent: int | None = None,
) -> None:
    """Wall in the calling process, a fresh fork with one thread; there is no way back.

    ``keep_fds`` become the descriptors 0, 1, 2, ... . ``scratch`` is a folder that this process may fill (None: none,
    for an examiner). Two processes alive at the same time need two values of ``slot``. ``parent`` is the parent's
    process id from before the fork, so that a parent that died since is noticed. Raises WallError.
    """
    parent = os.getppid() if parent is None else parent
    steps: list[tuple[str, Callable[[], object]]] = [
        ("session", lambda: _begin_session(parent)),
        ("descriptors", lambda: _take_descriptors(keep_fds)),
        ("scratch", lambda: _require_private(scratch)),
        ("namespaces", lambda: _leave_namespaces(wall, scratch)),
        ("scratch", lambda: _work_in(scratch)),
        ("limits", lambda: _limit(wall.limits)),
        ("root", lambda: _give_up_root(wall.readable, scratch, FIRST_UID + slot)),
        ("session", lambda: _die_with(parent)),  # again: a change of user clears it
        ("no_new_privs", lambda: prctl(PR_SET_NO_NEW_PRIVS, 1)),
        ("landlock", lambda: _restrict_files(wall, scratch)),
        ("seccomp", lambda: filter_calls(_landlock_abi(wall) < 3)),
    ]
    for name, step in steps:
        try:
            step()
        except (OSError, ValueError, MemoryError, shutil.Error) as error:
            raise WallError(
                f"The wall around student code could not be raised, step '{name}': {error}. 'viva doctor' says more."
            ) from error


def overflowing(scratch: str | Path, limits: Limits) -> bool:
    """Whether a scratch folder without a tmpfs of its own holds more than ``limits`` allow; for the parent to poll."""
    size = files = 0
    for folder, names, more in os.walk(scratch):
        for name in (*names, *more):
            try:
                size += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                continue
            files += 1
    return size > limits.scratch_bytes or files > limits.scratch_files


# Session, descriptors, scratch, limits

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 28, 38


def _begin_session(parent: int) -> None:
    os.setsid()
    _die_with(parent)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a file over the limit is an OSError
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o077)


def _die_with(parent: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError("the warm parent is gone")


def _take_descriptors(keep: Sequence[int]) -> None:
    import fcntl

    first = max([len(keep), *(descriptor + 1 for descriptor in keep)])
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, first) for descriptor in keep]
    for target, descriptor in enumerate(high):
        os.dup2(descriptor, target)
    call("close_range", len(keep), 0xFFFFFFFF, 0)


CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    1 << 30,
)
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 1 << 18
CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21
CAPABILITIES_OF_SELF = struct.pack("Ii", 0x20080522, 0)


def _leave_namespaces(wall: Wall, scratch: str | Path | None) -> None:
    if wall.private_tmp and scratch:
        # Landlock hides the scratch folders of others; in bubblewrap the tmpfs has to.
        _mount_scratch(scratch, wall.limits, Path(scratch).parent if wall.landlock_abi == 0 else scratch)


def _mount_scratch(scratch: str | Path, limits: Limits, cover: str | Path) -> None:
    """Leave the machine's namespaces and mount on ``cover`` a tmpfs with a copy of ``scratch``, which is in it."""
    spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET
    if _capabilities() >> CAP_SYS_ADMIN & 1:
        call("unshare", spaces)
    else:
        maps = {"uid_map": os.geteuid(), "gid_map": os.getegid()}
        prctl(PR_SET_DUMPABLE, 1)  # or the maps belong to root
        call("unshare", spaces | CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        for name, number in maps.items():
            Path("/proc/self", name).write_text(f"{number} {number} 1")
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    os.chdir(scratch)  # keeps the folder in reach that the tmpfs covers
    options = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=0700".encode()
    call("mount", b"tmpfs", os.fsencode(cover), b"tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
    shutil.copytree(".", scratch, symlinks=True, dirs_exist_ok=True)


def _require_private(scratch: str | Path | None) -> None:
    """Refuse a folder that is not ours alone: it is about to be given away, with everything in it."""
    if scratch:
        found = os.lstat(scratch)
        if not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077 or found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, f"{scratch} is not a folder of mode 0700 of this user's own")


def _work_in(scratch: str | Path | None) -> None:
    os.chdir(scratch or "/")
    if scratch:
        os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)


def _limit(limits: Limits) -> None:
    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2)  # SIGXCPU says why, SIGKILL insists
    _set_limit(resource.RLIMIT_AS, _address_space() + limits.memory_bytes)
    _set_limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set_limit(resource.RLIMIT_NOFILE, limits.open_files)
    _set_limit(resource.RLIMIT_STACK, limits.stack_bytes)
    for name in ("CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "NICE"):
        _set_limit(getattr(resource, f"RLIMIT_{name}"), 0)


def _set_limit(kind: int, soft: int, hard: int | None = None) -> None:
    ceiling = resource.getrlimit(kind)[1]
    wanted = (soft, soft if hard is None else hard)
    resource.setrlimit(kind, wanted if ceiling == resource.RLIM_INFINITY else tuple(min(n, ceiling) for n in wanted))


def _address_space() -> int:
    """Bytes of address space in use; where there is no /proc, the lowest limit under which a page can be had."""
    page = resource.getpagesize()
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * page
    except FileNotFoundError:
        import mmap

    old, low, high = resource.getrlimit(resource.RLIMIT_AS), 0, 1 << 47
    while high - low > MB:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, old[1]))
        try:
            mmap.mmap(-1, page).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, old)
    return high


# Root


def _capabilities() -> int:
    """The effective capabilities as bits."""
    data = bytearray(24)
    call("capget", CAPABILITIES_OF_SELF, data)
    words = struct.unpack("6I", data)
    return words[0] | words[3] << 32


def _give_up_root(readable: Sequence[str], scratch: str | Path | None, uid: int) -> None:
    """Take the user id ``uid`` where it can read ``readable``; in any case lose every capability for good."""
    if _capabilities():
        if os.geteuid() == 0 and _can_work_as(uid, readable, scratch):
            _hand_over(scratch, uid)
        else:
            uid = os.geteuid()
        if _capabilities() >> CAP_SETPCAP & 1:
            with contextlib.suppress(OSError):  # at the first number that the kernel does not know
                for capability in range(64):
                    prctl(PR_CAPBSET_DROP, capability)
            prctl(PR_SET_SECUREBITS, 0xEF)  # root is nothing special, and that is locked
        if uid != os.geteuid():
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        call("capset", CAPABILITIES_OF_SELF, bytes(24))
    prctl(PR_SET_DUMPABLE, 0)


def _can_work_as(uid: int, readable: Sequence[str], scratch: str | Path | None) -> bool:
    """Whether ``uid`` may be taken, can read ``readable`` and can reach ``scratch``."""
    try:
        os.setgroups([])
        os.setresgid(uid, -1, -1)
        os.setresuid(uid, -1, -1)  # os.access asks for the real user
    except OSError:
        return False  # not in this user namespace
    try:
        reach = scratch is None or os.access(Path(scratch).parent, os.X_OK)
        return reach and all(os.access(path, os.R_OK) for path in readable)
    finally:
        os.setresuid(os.geteuid(), -1, -1)
        os.setresgid(os.getegid(), -1, -1)


def _hand_over(scratch: str | Path | None, uid: int) -> None:
    for folder, _, files in os.walk(scratch) if scratch else ():
        for name in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(name, uid, uid, follow_symlinks=False)


# Landlock

EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11


def _landlock_abi(wall: Wall) -> int:
    """The version of Landlock to use; 0 only inside bubblewrap, where /proc is missing."""
    if wall.landlock_abi != 0:
        abi = call("landlock_create_ruleset", None, 0, 1)
        return abi if wall.landlock_abi is None else min(abi, wall.landlock_abi)
    if os.path.exists("/proc/self"):
        raise OSError(errno.EPERM, "no Landlock, and no bubblewrap around the warm parent")
    return 0


def _restrict_files(wall: Wall, scratch: str | Path | None) -> None:
    abi = _landlock_abi(wall)
    if not abi:
        return
    handled = (1 << 13) - 1 | (1 << 13 if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL if abi >= 5 else 0)
    layout = struct.pack("3Q", handled, 3, 3)  # files; TCP bind and connect; abstract sockets and signals
    layout = layout[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = call("landlock_create_ruleset", layout, len(layout), 0)
    rules = [(path, READ | LIST) for path in wall.readable]
    rules.append(("/dev/null", READ | WRITE | TRUNCATE))
    if scratch:
        rules.append((str(scratch), handled & ~(EXECUTE | MAKE_CHAR | MAKE_SOCK | MAKE_BLOCK | IOCTL)))
    for path, rights in rules:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= READ | WRITE | TRUNCATE
        call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", rights & handled, descriptor), 0)
        os.close(descriptor)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


# What this machine gives


@dataclass(frozen=True)
class Layer:
    """One part of the wall on this machine, and the command that would make it work."""

    name: str
    works: bool
    remedy: str = ""


@dataclass(frozen=True)
class Protection:
    """The layers that were tried."""

    layers: tuple[Layer, ...]

    def works(self, name: str) -> bool:
        return any(layer.works for layer in self.layers if layer.name == name)

    @property
    def level(self) -> str:
        """``full`` (Landlock and the filter), ``fallback`` (bubblewrap and the filter) or ``none``."""
        if not self.works("seccomp"):
            return "none"
        if self.works("landlock"):
            return "full"
        return "fallback" if self.works("bubblewrap") and self.works("namespaces") else "none"


@functools.cache
def protection() -> Protection:
    """Try each layer in a process of its own; the kernel's list of security modules is never read."""
    home = str(Path(__file__).resolve().parents[1])
    program = f"import sys; sys.path.insert(0, {home!r}); from viva import wall; wall.try_layers(sys.argv[1:])"
    command = [sys.executable, "-I", "-S", "-c", program, *readable_by_default()]
    answer = subprocess.run(command, capture_output=True, cwd="/", timeout=20)
    works = json.loads(answer.stdout) if answer.returncode == 0 else {}
    layers = [Layer(name, works.get(name, False), _REMEDIES[name]) for name in ("landlock", "seccomp", "namespaces")]
    if os.geteuid() == 0:
        layers.append(Layer("user", works.get("user", False), _REMEDIES["user"]))
    if not works.get("landlock"):
        layers.append(Layer("bubblewrap", try_bubblewrap(), _REMEDIES["bubblewrap"]))
    return Protection(tuple(layers))


_REMEDIES = {
    "landlock": "boot Linux 5.13 or newer with 'landlock' in lsm=, or: sudo apt-get install bubblewrap",
    "seccomp": "grade on Linux on x86_64 or aarch64, or in a container of it",
    "namespaces": "sudo sysctl -w user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0",
    "user": "make the environment with an interpreter that every user can read: /usr/bin/python3 -m venv .venv",
    "bubblewrap": "sudo apt-get install bubblewrap",
}


def try_layers(readable: Sequence[str]) -> None:
    """Print which layers work, as JSON; each is tried in a fork."""
    tries = {
        "landlock": lambda folder: _try_landlock(),
        "seccomp": lambda folder: _try_filter(),
        "namespaces": lambda folder: _mount_scratch(folder, Limits(), folder),
        "user": lambda folder: _require(_can_work_as(FIRST_UID, readable, None)),
    }
    with tempfile.TemporaryDirectory(prefix="viva-wall-") as folder:
        print(json.dumps({name: _works(lambda attempt=attempt: attempt(folder)) for name, attempt in tries.items()}))


def _works(attempt: Callable[[], object]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def _require(held: bool) -> None:
    if not held:
        raise OSError


def _try_landlock() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _restrict_files(Wall(()), None)
    with contextlib.suppress(PermissionError):
        os.listdir("/")
        raise OSError("the ruleset has no effect")


def _try_filter() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    filter_calls(True)
    with contextlib.suppress(PermissionError):
        os.truncate("/nonexistent", 0)
        raise OSError("the filter has no effect")


def try_bubblewrap() -> bool:
    """Whether bubblewrap can stand around an interpreter on this machine."""
    command = bubblewrap_command(Wall(readable_by_default()), [sys.executable, "-I", "-S", "-c", "pass"])
    return bool(shutil.which("bwrap")) and subprocess.run(command, capture_output=True, timeout=20).returncode == 0


def bubblewrap_command(wall: Wall, argv: Sequence[str], scratch: str | Path | None = None) -> list[str]:
    """The command that starts a warm parent in bubblewrap: what is readable, read-only; no /proc, no network.

    ``scratch`` is the folder that holds the scratch folders. The parent is root of a user namespace of its own, so that
    its forks can mount a tmpfs and then give that up; its walls need ``landlock_abi=0`` and ``private_tmp=True``.
    """
    command = ["bwrap", "--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0", "--die-with-parent"]
    command += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP", "--new-session"]
    program = shutil.which(argv[0]) or argv[0]
    for path in dict.fromkeys((*wall.readable, program, os.path.realpath(program))):
        command += ["--dev-bind" if path.startswith("/dev/") else "--ro-bind", path, path]
    command += ["--dev-bind", "/dev/null", "/dev/null", "--chdir", "/"]
    if scratch:
        command += ["--bind", str(scratch), str(scratch)]
    return [*command, "--", *argv]
