"""The sandbox: how a process that runs someone else's code gives up everything but its own work.

Theory of operation. A fork server forks one process per submission. The fork calls ``enter`` before it runs a line of
the notebook, and from then on it is held by the kernel, not by Python: nothing the student's interpreter does can
undo a step. In this order, because each step needs something that a later one takes away:

    session       a session of its own, die with the parent, Python's own signal handlers, umask 077
    descriptors   the given ones on 0, 1, 2, ...; every other is closed
    namespaces    (where they work) a private tmpfs of limited size over the scratch folder, the data copied in
    scratch       the working directory, and the only folder that can be written to
    limits        CPU, memory, address space, file size, descriptors, stack; no core dump
    namespaces    (where they work) a root folder of its own, with scratch, ``Sandbox.readable``, an empty /dev/shm of
                  limited size, and nothing else
    root          root takes a user id of its own, or drops every capability
    landlock      only ``Sandbox.readable`` can be read, only scratch be written to; of /proc nothing but PROC
    seccomp       last, because it forbids most of the above: no process, no network, no reach to other processes

Where the kernel has no Landlock the fork server is started in bubblewrap, which gives it and its forks a file system
that holds nothing else (``viva.sandbox.bubblewrap``); its forks then always have namespaces. No other outer program,
and no privilege, is needed. In a container that is thrown away after one submission, and only there, a user of its own
may stand in for both (``Sandbox.other_user``).

What a fork may still do: compute, start threads (``viva.sandbox.privileges`` says how many), work in scratch, and
answer on the descriptors it was given. Without namespaces it may also learn by ``stat`` of a path that it guesses
whether it exists, its size, owner and times, which Landlock does not cover. What the parent holds in memory and
environment, the fork can read: the parent must have been started by exec with a clean environment, hold no test text,
and be single-threaded. Without namespaces the size of scratch is the caller's to watch (``overflowing``). A library
written into scratch can be loaded (only the tmpfs denies that); it can do no more than the code that wrote it.

Where a layer is missing, ``viva.sandbox.protection`` says "none" and nothing may be graded without an explicit word. A
step that fails raises SandboxError: the machine's fault or ours, never the student's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from viva.folder import holds_more
from viva.sandbox import bubblewrap, landlock
from viva.sandbox.landlock import readable_by_default
from viva.sandbox.privileges import (
    LISTS,
    SHARED,
    cover_proc,
    give_up_root,
    keep_only,
    mount_private,
    own_proc,
    require_private,
    share_alone,
)
from viva.sandbox.protection import IN_BUBBLEWRAP, protection
from viva.sandbox.syscalls import assemble, call, filter_calls, prctl
from viva.verdict import SandboxError

with contextlib.suppress(ModuleNotFoundError):  # Windows has none; `viva check` gets along without
    import resource

MB, GB = 1 << 20, 1 << 30
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
NEVER_HANDLED = {getattr(signal, name) for name in ("SIGKILL", "SIGSTOP") if hasattr(signal, name)}
HANDLED = tuple(sorted(map(int, signal.valid_signals() - NEVER_HANDLED)))
"""The signals that a process can choose an answer to."""
FIRST_UID, SLOTS = 60578, 1000
"""Under root, slot n has the user id FIRST_UID + n. Nothing else on Linux uses the first 606 of them; from 61184 on
systemd makes up users for services."""


@dataclass(frozen=True)
class Limits:
    """The limits of one process; memory is on top of what its parent uses at the fork."""

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
CODE_BYTES = 8 * GB
"""Address space that a process may take beyond its memory: PyTorch and the libraries below it map some gigabytes of
code, which uses no memory of their own."""
LEAST_MEMORY, MOST_MEMORY = 64, 1 << 20
"""The fewest and the most megabytes that a course may allow to a notebook."""


@dataclass(frozen=True)
class Sandbox:
    """The reach of the processes of one role; ``landlock_abi`` stands for an older kernel's version of Landlock."""

    readable: tuple[str, ...]
    limits: Limits = Limits()
    landlock_abi: int | None = None
    private_tmp: bool = False
    bubblewrap: bool = False
    """Whether the fork server runs in bubblewrap, in place of Landlock."""
    other_user: bool = False
    """Whether a user of its own stands in for Landlock: what is closed to other users is out of reach, and no more."""

    @classmethod
    def for_candidate(cls, readable: Iterable[str | Path] = (), limits: Limits = Limits(), **overrides) -> Sandbox:
        """The sandbox around a student's code; ``overrides`` replace what ``protection`` says of this machine."""
        machine = protection()
        usual = {"private_tmp": machine.works("namespaces"), "bubblewrap": machine.level == IN_BUBBLEWRAP}
        overrides = usual | overrides
        return cls((*readable_by_default(), *map(str, readable)), limits, **overrides)

    @classmethod
    def for_examiner(cls, readable: Iterable[str | Path] = (), limits: Limits = LARGER, **overrides) -> Sandbox:
        """The sandbox around the instructor's tests: the same reach, larger limits, a private folder if it must."""
        return replace(cls.for_candidate(readable, limits, **overrides), private_tmp=False)


def prepare() -> None:
    """Do once, in the parent, what ``enter`` would do the same in each of its forks."""
    with contextlib.suppress(OSError):  # this machine has no filter: told where a sandbox is set up
        assemble(False)


def enter(
    sandbox: Sandbox,
    scratch: str | Path | None,
    keep_fds: Sequence[int],
    *,
    slot: int = 0,
    parent: int | None = None,
) -> None:
    """Put the calling process into the sandbox, a fresh fork with one thread; there is no way back.

    ``keep_fds`` become the descriptors 0, 1, 2, ...; a caller that has to report a SandboxError puts them there before,
    because the old numbers may be closed by then. ``scratch`` is the absolute path of a folder of mode 0700 that this
    process may fill and no other uses (None: it has none). ``slot`` is from 0 to 999, and no two processes that
    live at the same time have the same. ``parent`` is the parent's process id from before the fork, so that a parent
    that died since is noticed. Raises SandboxError.
    """
    parent = os.getppid() if parent is None else parent
    scratch = None if scratch is None else str(scratch)
    limits, private = sandbox.limits, sandbox.private_tmp or sandbox.bubblewrap
    alone = sandbox.bubblewrap or sandbox.other_user  # without Landlock
    rooted = private and scratch and not sandbox.bubblewrap
    user = os.geteuid()
    numbers = (FIRST_UID + slot, user) if user == 0 else (user,)  # which of root's it will be is known later
    readable = (*sandbox.readable, *own_proc(), *(LISTS if rooted else ()))
    writable = [folder for folder in (scratch, SHARED if rooted else None) if folder]
    steps: list[tuple[str, Callable[[], object]]] = [
        ("slot", lambda: _require_slot(slot)),
        ("session", lambda: begin_session(parent)),
        ("descriptors", lambda: _take_descriptors(keep_fds)),
        ("scratch", lambda: require_private(scratch) if scratch else None),
        ("bubblewrap", lambda: bubblewrap.require_inside(scratch) if sandbox.bubblewrap else None),
        (
            "namespaces",
            lambda: mount_private(scratch, *limits.scratch, sandbox.bubblewrap) if private and scratch else None,
        ),
        ("scratch", lambda: _work_in(scratch)),
        ("limits", lambda: limit(limits)),
        (
            "namespaces",
            lambda: keep_only(sandbox.readable, scratch, *limits.scratch, numbers) if rooted and scratch else None,
        ),
        ("bubblewrap", lambda: cover_proc() if sandbox.bubblewrap else None),
        ("bubblewrap", lambda: share_alone(SHARED, *limits.scratch) if sandbox.bubblewrap else None),
        ("root", lambda: give_up_root(FIRST_UID + slot, sandbox.readable, scratch, sandbox.other_user)),
        ("session", lambda: _die_with(parent)),  # again: a change of user clears it
        ("no_new_privs", lambda: prctl(PR_SET_NO_NEW_PRIVS, 1)),
        (
            "landlock",
            lambda: None if alone else landlock.restrict(readable, writable, sandbox.landlock_abi),
        ),
        ("seccomp", lambda: filter_calls(not alone and landlock.version(sandbox.landlock_abi) < 3)),
    ]
    for name, step in steps:
        try:
            step()
        except Exception as error:
            raise SandboxError(
                f"The sandbox did not start. It stopped at step '{name}': {error}. Details: viva doctor"
            ) from error


def overflowing(scratch: str | Path, limits: Limits) -> bool:
    """Whether a scratch folder without a tmpfs of its own holds more than ``limits`` allow; for the parent to poll."""
    return holds_more(scratch, limits.scratch_bytes, limits.scratch_files)


# The steps


def _require_slot(slot: int) -> None:
    if not 0 <= slot < SLOTS:
        raise ValueError(f"the slot {slot} must be 0 to {SLOTS - 1}")


def begin_session(parent: int) -> None:
    """Start afresh in a session of its own, and die with ``parent``. Raises OSError."""
    os.setsid()
    _die_with(parent)
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a file over the limit is an OSError
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o077)


def _die_with(parent: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError("the grading process stopped. Run the same command again")


def _take_descriptors(keep: Sequence[int]) -> None:
    import fcntl

    first = max([len(keep), *(descriptor + 1 for descriptor in keep)])
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, first) for descriptor in keep]
    for target, descriptor in enumerate(high):
        os.dup2(descriptor, target)
    call("close_range", len(keep), 0xFFFFFFFF, 0)


def _work_in(scratch: str | None) -> None:
    os.chdir(scratch or "/")
    if scratch:  # where libraries keep what they write
        os.environ["TMPDIR"] = os.environ["HOME"] = tempfile.tempdir = scratch
        os.environ["IPYTHONDIR"] = f"{scratch}/.ipython"


def limit(limits: Limits) -> None:
    """Limit the calling process, soft and hard alike. Raises OSError."""
    pages = map(int, Path("/proc/self/statm").read_text().split())
    size, *_, data, _ = (number * resource.getpagesize() for number in pages)
    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2)  # SIGXCPU says why, SIGKILL insists
    _set_limit(resource.RLIMIT_DATA, data + limits.memory_bytes)
    _set_limit(resource.RLIMIT_AS, size + limits.memory_bytes + CODE_BYTES)
    _set_limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set_limit(resource.RLIMIT_NOFILE, limits.open_files)
    _set_limit(resource.RLIMIT_STACK, limits.stack_bytes)
    for name in ("CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "NICE"):
        _set_limit(getattr(resource, f"RLIMIT_{name}"), 0)


def _set_limit(limit: int, soft: int, hard: int | None = None) -> None:
    ceiling = resource.getrlimit(limit)[1]
    hard = soft if hard is None else hard
    unlimited = ceiling == resource.RLIM_INFINITY
    resource.setrlimit(limit, (soft, hard) if unlimited else (min(soft, ceiling), min(hard, ceiling)))


# Which slots are whose on this machine: under root, one submission at a time has a slot, whose user id it runs as.
#
# A claim is a lock on a file in a folder of root's that nobody else can write to. The kernel gives it to one process,
# and frees it when that process and its forks have ended, however they end. Who is not root has one user id for all.

PLACES = ("/run", "/var/lib", "/var/tmp", "/tmp")
"""The folders for the claims: the first that can be written to, which is the same for all graders."""


class Claims:
    """Pairs of slots, for a candidate and its examiner; claimed when first asked for, kept until closed."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[int, int]] = {}

    def pair(self, number: int) -> int:
        """The first slot of the pair that is called ``number`` here. Raises SandboxError when all are taken."""
        if getattr(os, "geteuid", lambda: 1)():
            return 2 * number % SLOTS
        if number not in self.held:
            self.held[number] = _claim()
        return self.held[number][0]

    def close(self) -> None:
        for _, descriptor in self.held.values():
            os.close(descriptor)
        self.held.clear()


def _claim() -> tuple[int, int]:
    import fcntl

    folder = _folder_of_claims()
    for slot in range(0, SLOTS, 2):
        claim = os.open(f"{folder}/{slot}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return slot, claim
        except BlockingIOError:
            os.close(claim)
        except OSError as error:
            os.close(claim)
            raise SandboxError(
                f"The sandbox needs a user id, but none can be reserved in {folder}: {error.strerror}."
            ) from error
    raise SandboxError(
        f"This machine already grades {SLOTS // 2} submissions at the same time. This is the limit. Stop another "
        "grading command on this machine first."
    )


def _folder_of_claims() -> str:
    """A folder that only this user can write to. Raises SandboxError."""
    for parent in PLACES:
        folder = f"{parent}/viva-slots"
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            status = os.lstat(folder)
            private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
            if private and os.access(folder, os.W_OK):
                return folder
    raise SandboxError(
        "The sandbox needs a user id, but none can be reserved, because this user cannot create a folder viva-slots "
        f"in any of {', '.join(PLACES)}."
    )
