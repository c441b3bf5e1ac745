"""The wall: how a process that runs someone else's code gives up everything but its own work.

Theory of operation. A warm parent forks one process per submission. The fork calls ``enter`` before it runs a line of
the notebook, and from then on it is held by the kernel, not by Python: nothing the student's interpreter does can
undo a step. In this order, because each step needs something that a later one takes away:

    session       a session of its own, die with the parent, Python's own signal handlers, umask 077
    descriptors   the given ones on 0, 1, 2, ...; every other is closed
    namespaces    (where they work) a private tmpfs of limited size over the scratch folder, the data copied in
    scratch       the working directory, and the only folder that can be written to
    limits        CPU, address space, file size, descriptors, stack; no core dump
    namespaces    (where they work) a root folder of its own, with scratch and ``Wall.readable`` and nothing else
    root          root takes a user id of its own, or drops every capability
    landlock      only ``Wall.readable`` can be read, only scratch be written to; /proc is closed
    seccomp       last, because it forbids most of the above: no process, no network, no reach to other processes

Where the kernel has no Landlock the warm parent is started in bubblewrap, which gives it and its forks a file system
that holds nothing else (``viva.layers.bubblewrap``); its forks then always have namespaces. No other outer program,
and no privilege, is needed.

What a fork may still do: compute, start threads (``viva.layers.privileges`` says how many), work in scratch, and answer
on the descriptors it was given. Without namespaces it may also learn by ``stat`` of a path that it guesses whether it
exists, its size, owner and times, which Landlock does not cover. What the parent holds in memory and environment, the
fork can read: the parent must have been started by exec with a clean environment, hold no test text, and be
single-threaded. Without namespaces the size of scratch is the caller's to watch (``overflowing``). A library written
into scratch can be loaded (only the tmpfs denies that); it can do no more than the code that wrote it.

Where a layer is missing, ``protection`` says "none" and nothing may be graded without an explicit word. A step that
fails raises WallError: the machine's fault or ours, never the student's.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from viva.folder import holds_more
from viva.layers import bubblewrap, landlock
from viva.layers.privileges import cover, give_up_root, keep_only, mount_private, require_private
from viva.layers.syscalls import call, filter_calls, prctl
from viva.verdict import WallError

MB, GB = 1 << 20, 1 << 30
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
FIRST_UID, SLOTS = 60578, 1000
"""Under root, slot n has the user id FIRST_UID + n. Nothing else on Linux uses the first 606 of them; from 61184 on
systemd makes up users for services."""

_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts"),
    "/etc/alternatives",  # links, by which a system's libraries are found
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

    @property
    def scratch(self) -> tuple[int, int]:
        return self.scratch_bytes, self.scratch_files


USUAL = Limits()
LARGER = Limits(cpu_seconds=300, memory_bytes=4 * GB, file_bytes=256 * MB, open_files=1024)


@dataclass(frozen=True)
class Wall:
    """What one kind of process may reach; ``landlock_abi`` stands for an older kernel's version of Landlock."""

    readable: tuple[str, ...]
    limits: Limits = Limits()
    landlock_abi: int | None = None
    private_tmp: bool = False
    bubblewrap: bool = False
    """Whether the warm parent runs in bubblewrap, in place of Landlock."""

    @classmethod
    def for_candidate(cls, readable: Iterable[str | Path] = (), limits: Limits = Limits(), **known) -> Wall:
        """The wall around a student's code; ``known`` overrides what ``protection`` found out about this machine."""
        found = protection()
        usual = {"private_tmp": found.works("namespaces"), "bubblewrap": found.level == IN_BUBBLEWRAP}
        known = usual | known
        return cls((*readable_by_default(), *map(str, readable)), limits, **known)

    @classmethod
    def for_examiner(cls, readable: Iterable[str | Path] = (), limits: Limits = LARGER, **known) -> Wall:
        """The wall around the instructor's tests: the same reach, larger limits, a private folder if it must."""
        return replace(cls.for_candidate(readable, limits, **known), private_tmp=False)


@functools.cache
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

    ``keep_fds`` become the descriptors 0, 1, 2, ...; a caller that has to report a WallError puts them there before,
    because the old numbers may be closed by then. ``scratch`` is the absolute path of a folder of mode 0700 that this
    process may fill and no other uses (None: it has none). ``slot`` is from 0 to 999, and no two processes that
    live at the same time have the same. ``parent`` is the parent's process id from before the fork, so that a parent
    that died since is noticed. Raises WallError.
    """
    parent = os.getppid() if parent is None else parent
    scratch = None if scratch is None else str(scratch)
    limits, private = wall.limits, wall.private_tmp or wall.bubblewrap
    steps: list[tuple[str, Callable[[], object]]] = [
        ("slot", lambda: _require_slot(slot)),
        ("session", lambda: begin_session(parent)),
        ("descriptors", lambda: _take_descriptors(keep_fds)),
        ("scratch", lambda: scratch and require_private(scratch)),
        ("bubblewrap", lambda: wall.bubblewrap and bubblewrap.require_inside(scratch)),
        ("namespaces", lambda: private and scratch and mount_private(scratch, *limits.scratch, wall.bubblewrap)),
        ("scratch", lambda: _work_in(scratch)),
        ("limits", lambda: limit(limits)),
        ("namespaces", lambda: private and scratch and not wall.bubblewrap and keep_only(wall.readable, scratch)),
        ("bubblewrap", lambda: wall.bubblewrap and cover("/proc")),
        ("root", lambda: give_up_root(FIRST_UID + slot, wall.readable, scratch)),
        ("session", lambda: _die_with(parent)),  # again: a change of user clears it
        ("no_new_privs", lambda: prctl(PR_SET_NO_NEW_PRIVS, 1)),
        ("landlock", lambda: wall.bubblewrap or landlock.restrict(wall.readable, scratch, wall.landlock_abi)),
        ("seccomp", lambda: filter_calls(not wall.bubblewrap and landlock.version(wall.landlock_abi) < 3)),
    ]
    for name, step in steps:
        try:
            step()
        except Exception as error:
            raise WallError(
                f"The wall around student code could not be raised, step '{name}': {error}. 'viva doctor' says more."
            ) from error


def overflowing(scratch: str | Path, limits: Limits) -> bool:
    """Whether a scratch folder without a tmpfs of its own holds more than ``limits`` allow; for the parent to poll."""
    return holds_more(scratch, limits.scratch_bytes, limits.scratch_files)


# The steps


def _require_slot(slot: int) -> None:
    if not 0 <= slot < SLOTS:
        raise ValueError(f"{slot} is not from 0 to {SLOTS - 1}")


def begin_session(parent: int) -> None:
    """Start afresh in a session of its own, and die with ``parent``. Raises OSError."""
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


def _work_in(scratch: str | None) -> None:
    os.chdir(scratch or "/")
    if scratch:
        os.environ["TMPDIR"] = tempfile.tempdir = scratch


def limit(limits: Limits) -> None:
    """Limit the calling process, soft and hard alike. Raises OSError."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2)  # SIGXCPU says why, SIGKILL insists
    _set_limit(resource.RLIMIT_AS, in_use + limits.memory_bytes)
    _set_limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set_limit(resource.RLIMIT_NOFILE, limits.open_files)
    _set_limit(resource.RLIMIT_STACK, limits.stack_bytes)
    for name in ("CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "NICE"):
        _set_limit(getattr(resource, f"RLIMIT_{name}"), 0)


def _set_limit(kind: int, soft: int, hard: int | None = None) -> None:
    ceiling = resource.getrlimit(kind)[1]
    wanted = (soft, soft if hard is None else hard)
    resource.setrlimit(kind, wanted if ceiling == resource.RLIM_INFINITY else tuple(min(n, ceiling) for n in wanted))


# What this machine gives


@dataclass(frozen=True)
class Layer:
    """One part of the wall on this machine; ``fault`` is empty when it withstood, ``remedy`` is what would mend it."""

    name: str
    promise: str
    fault: str = ""
    remedy: str = ""
    needed: bool = True

    @property
    def works(self) -> bool:
        return not self.fault


@dataclass(frozen=True)
class Protection:
    """The layers that were tried."""

    layers: tuple[Layer, ...]

    def works(self, name: str) -> bool:
        return any(layer.works for layer in self.layers if layer.name == name)

    @property
    def level(self) -> str:
        """``full with private tmpfs``, ``full``, IN_BUBBLEWRAP, or ``none`` when no wall can be raised."""
        if all(map(self.works, (*_ALWAYS, *_BY_LANDLOCK))):
            return "full with private tmpfs" if self.works("namespaces") else "full"
        return IN_BUBBLEWRAP if all(map(self.works, (*_ALWAYS, "bubblewrap"))) else "none"


IN_BUBBLEWRAP = "full, in bubblewrap"
_ALWAYS, _BY_LANDLOCK = ("session", "limits", "root", "seccomp"), ("landlock", "together")
PROMISES = {
    "session": "a process dies with its parent",
    "limits": "memory, size of files and number of files are limited",
    "root": "every privilege is given up",
    "user": "root gives each process a user of its own, whose threads are counted",
    "landlock": "only what is named can be read, only scratch be written to",
    "seccomp": "no process, no program, no network, no signal to others",
    "namespaces": "no other path is known, scratch is a tmpfs of limited size, threads are counted",
    "together": "a whole wall rises and holds",
    "bubblewrap": "a whole wall rises and holds without Landlock, in a file system of its own",
}
_REMEDIES = {
    "session": "grade on Linux, on x86_64 or aarch64",
    "limits": "grade on Linux with /proc mounted",
    "root": "grade as a normal user",
    "user": "make the environment with an interpreter that every user can read: make setup PYTHON=/usr/bin/python3",
    "landlock": "boot Linux 5.13 or newer with landlock in the kernel's command line, as in "
    f"lsm=landlock,yama,apparmor; or: {bubblewrap.INSTALL}",
    "seccomp": "grade on Linux on x86_64 or aarch64, with a kernel that has CONFIG_SECCOMP_FILTER",
    "together": "mend what is missing above",
}
_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user.max_user_namespaces": ("0", "15000"),
}


@functools.cache
def protection(all_layers: bool = False) -> Protection:
    """What withstood the attempts of ``viva.trial`` here; they run in a process of their own, in about 0.2 s.

    Bubblewrap is tried where Landlock does not hold, or with ``all_layers``.
    """
    faults = _tried(set(PROMISES) - {"bubblewrap"})
    if all_layers or any(faults[name] for name in _BY_LANDLOCK):
        faults["bubblewrap"] = _fault_of_bubblewrap()
    opening = _how_to_open_namespaces()
    remedies = _REMEDIES | {
        "namespaces": opening,
        "bubblewrap": opening if bubblewrap.installed() else bubblewrap.INSTALL,
    }
    instead = _BY_LANDLOCK if faults.get("bubblewrap") == "" else ()
    spare = () if any(faults[name] for name in _BY_LANDLOCK) else ("bubblewrap",)
    return Protection(
        tuple(
            Layer(name, promise, faults[name], remedies[name], name not in ("user", "namespaces", *instead, *spare))
            for name, promise in PROMISES.items()
            if name in faults and (name != "user" or (os.geteuid() == 0 and faults["namespaces"]))
        )
    )


def _fault_of_bubblewrap() -> str:
    if not bubblewrap.installed():
        return f"there is no program {bubblewrap.PROGRAM}"
    with tempfile.TemporaryDirectory(prefix="viva-wall-") as home:
        return _tried({"bubblewrap"}, bubblewrap.command(readable_by_default(), home))["bubblewrap"]


def _tried(names: Iterable[str], inside: Sequence[str] = ()) -> dict[str, str]:
    """The faults of these layers, where ``inside`` is a command to start the attempts with."""
    home = str(Path(__file__).resolve().parents[1])
    program = f"import sys; sys.path.insert(0, {home!r}); from viva import trial; trial.main(*sys.argv[1:])"
    command = [*inside, sys.executable, "-I", "-S", "-c", program, ",".join(names), *readable_by_default()]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
        return json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        told = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1]
        return dict.fromkeys(names, f"it could not be tried: {told}")


def _how_to_open_namespaces() -> str:
    for name, (closed, opened) in _SWITCHES.items():
        with contextlib.suppress(OSError):
            if Path("/proc/sys", *name.split(".")).read_text().strip() == closed:
                return f"sudo sysctl -w {name}={opened}"
    return "sudo sysctl -w user.max_user_namespaces=15000; a container must be started so that it may unshare and mount"
