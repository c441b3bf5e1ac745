"""The sandbox on trial: each layer is raised alone in a fork, which then tries to break it.

``viva.sandbox.protection`` runs this as a program of its own. An attempt returns when the layer withstood and raises
when it could not be raised or was broken. Nothing here reads the kernel's version or its list of security modules:
on some machines the list is missing while Landlock works. A layer that does not hold does no harm either: the
attempts send no signal but 0, and touch only a folder made for them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from viva.sandbox import bubblewrap, landlock
from viva.sandbox.confinement import FIRST_UID, MB, PR_SET_NO_NEW_PRIVS, Limits, Sandbox, begin_session, enter, limit
from viva.sandbox.privileges import can_work_as, capabilities, give_up_root, keep_only, mount_private
from viva.sandbox.syscalls import SHARED_BYTES, filter_calls, prctl

FEW = Limits(memory_bytes=64 * MB, file_bytes=MB, open_files=20, scratch_bytes=MB, scratch_files=20)
REPORT = 3
"""The descriptor on which a fork tells its fault."""


def main(names: str, *readable: str) -> None:
    """Print what is wrong with each of the layers ``names``, as JSON: an empty text when it withstood."""
    faults: dict[str, str] = {}
    for name in (name for name in ATTEMPTS if name in names.split(",")):
        sandbox = Sandbox(readable, FEW, private_tmp=faults.get("namespaces") == "", bubblewrap=name == "bubblewrap")
        with _folder(sandbox) as folder:
            scratch = os.path.join(folder, "scratch")
            os.mkdir(scratch, 0o700)
            faults[name] = fault_of(ATTEMPTS[name], sandbox, scratch)
    print(json.dumps(faults))


def _folder(sandbox: Sandbox) -> contextlib.AbstractContextManager[str]:
    """The folder for scratch folders: one inside bubblewrap is removed by the process that started it."""
    if sandbox.bubblewrap:
        return contextlib.nullcontext(bubblewrap.PLACE)
    return tempfile.TemporaryDirectory(prefix="viva-sandbox-")


def fault_of(attempt: Callable[[Sandbox, str], object], sandbox: Sandbox, scratch: str) -> str:
    """The fault of an attempt that is made in a fork; empty if there is none."""
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        fault = ""
        try:
            os.dup2(writer, REPORT)
            attempt(sandbox, scratch)
        except BaseException as error:
            fault = str(error) or repr(error)
        if os.getppid() == parent:
            os.write(REPORT, f"finished {fault}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        answer = report.read().decode()
    os.waitpid(child, 0)
    return answer.removeprefix("finished ") if answer else "the test process stopped"


def _refused(attempted: str, number: int, attempt: Callable, *arguments) -> None:
    """Make an attempt that must fail with this error number."""
    try:
        attempt(*arguments)
    except OSError as error:
        if error.errno == number:
            return
        raise
    raise OSError(f"the sandbox did not stop this: {attempted}")


def _session(sandbox: Sandbox, scratch: str) -> None:
    """A grandchild must die with its parent: then it never comes to its answer. No clock tells, as a busy machine may
    take any time to let it die."""
    (reports, teller), (requests, caller) = os.pipe(), os.pipe()
    middle = os.fork()
    if middle == 0:
        parent = os.getpid()
        if os.fork() == 0:
            begin_session(parent)
            os.write(teller, b"begun")
            os.read(requests, 1)
            os.write(teller, b"alive")
            os._exit(0)
        os.close(teller)
        os._exit(os.read(reports, 5) != b"begun")
    os.close(teller)
    if os.waitpid(middle, 0)[1] != 0:  # from here on the grandchild has its signal
        raise OSError("a session could not be started")
    os.write(caller, b"x")
    if os.read(reports, 5):
        raise OSError("a process did not end with its parent")


def _limits(sandbox: Sandbox, scratch: str) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit(sandbox.limits)
    _refused("too much memory", errno.ENOMEM, mmap.mmap, -1, 2 * sandbox.limits.memory_bytes, mmap.MAP_PRIVATE)
    file = os.open(os.path.join(scratch, "file"), os.O_CREAT | os.O_RDWR)
    _refused("a file that is too large", errno.EFBIG, os.pwrite, file, b"x", sandbox.limits.file_bytes)
    _refused("too many open files", errno.EMFILE, lambda: [os.dup(0) for _ in range(sandbox.limits.open_files)])


def _root(sandbox: Sandbox, scratch: str) -> None:
    give_up_root(FIRST_UID, sandbox.readable, None)
    _refused("a change of the root folder", errno.EPERM, os.chroot, "/")
    _refused("a change of groups", errno.EPERM, os.setgroups, [0])
    if capabilities():
        raise OSError("the process still has capabilities of root")


def _user(sandbox: Sandbox, scratch: str) -> None:
    if not can_work_as(FIRST_UID, sandbox.readable, None):
        raise OSError(f"user {FIRST_UID} cannot read {sys.base_prefix}, or does not exist here")


def _landlock(sandbox: Sandbox, scratch: str) -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict((), [scratch])
    _refused("reading another user's folder", errno.EACCES, os.listdir, "/")
    _refused("writing outside of the scratch folder", errno.EACCES, os.mkdir, f"{scratch}-outside")
    os.mkdir(os.path.join(scratch, "inside"))


def _seccomp(sandbox: Sandbox, scratch: str) -> None:
    parent = os.getppid()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    filter_calls(True)
    _refused("a fork", errno.EPERM, lambda: os.fork() or os._exit(0))
    _refused("a socket", errno.EPERM, socket.socket)
    _refused("another program", errno.EPERM, os.execv, "/bin/true", ["true"])
    _refused("memory that the limit does not count", errno.ENOMEM, mmap.mmap, -1, 2 * SHARED_BYTES)
    _refused("a signal to the parent", errno.EPERM, os.kill, parent, 0)


def _namespaces(sandbox: Sandbox, scratch: str) -> None:
    mount_private(scratch, *sandbox.limits.scratch)
    file = os.open(os.path.join(scratch, "file"), os.O_CREAT | os.O_RDWR)
    _refused("too much scratch data", errno.ENOSPC, os.posix_fallocate, file, 0, 2 * sandbox.limits.scratch_bytes)
    keep_only(sandbox.readable, scratch, *sandbox.limits.scratch)
    _refused("files outside of the scratch folder", errno.ENOENT, os.stat, f"{scratch}-outside")
    _refused("a folder of the machine", errno.ENOENT, os.stat, "/proc/self/environ")


def _together(sandbox: Sandbox, scratch: str) -> None:
    enter(sandbox, scratch, range(REPORT + 1))
    Path("file").write_text("own")
    _refused("reading another user's folder", errno.EACCES, os.listdir, "/")
    _refused("a socket", errno.EPERM, socket.socket)


def _bubblewrap(sandbox: Sandbox, scratch: str) -> None:
    neighbour = Path(scratch).with_name("neighbour")
    neighbour.touch()
    _together(sandbox, scratch)
    _refused("a neighbour's folder", errno.ENOENT, neighbour.read_text)
    _refused("information about the process", errno.EACCES, os.listdir, "/proc/self")
    _refused("writing into a library", errno.EROFS, Path(__file__).with_name("planted").touch)


ATTEMPTS: dict[str, Callable[[Sandbox, str], object]] = {
    "session": _session,
    "limits": _limits,
    "root": _root,
    "user": _user,
    "landlock": _landlock,
    "seccomp": _seccomp,
    "namespaces": _namespaces,
    "together": _together,
    "bubblewrap": _bubblewrap,
}
