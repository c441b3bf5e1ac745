"""Privileges: what a process may do because of who it is, and how it gives that up or uses it one last time.

Root takes a user id of its own, or at least drops every capability. Where the kernel lets it, a process leaves the
machine's namespaces first, mounts a private tmpfs, of limited size, over its scratch folder, and takes a root folder
in which nothing is but that and what it may read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import struct
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from viva.sandbox.syscalls import call, prctl

with contextlib.suppress(ModuleNotFoundError):  # Windows has none; `viva check` gets along without
    import resource

PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_SECUREBITS = 4, 24, 28
CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21
CAPABILITIES_OF_SELF = struct.pack("Ii", 0x20080522, 0)
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 1 << 26, 1 << 27, 1 << 28, 1 << 30
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 1 << 14, 1 << 18
THREADS = 128
"""The most that may run where the kernel counts them for a process alone: for a user that root gave it, and in a user
namespace. For root itself it counts none, and for a user without namespaces all of the login's: there memory alone ends
them.
"""
SHARED = "/dev/shm"
"""The folder for the files of multiprocessing's locks, thread pools and arrays; each process has its own."""
PROC = ("cmdline", "maps", "stat", "statm", "status")
"""All of /proc that a process may read, of itself: where its libraries lie (threadpoolctl finds BLAS by it, for
scikit-learn), and that it is there and how large (psutil, which dask asks for xarray). It tells nothing that a process
cannot find out without.
"""
MEMORY = "/proc/meminfo"
"""The file with the machine's memory, which the system call sysinfo tells too."""
CPUS = "/proc/cpuinfo"
"""The file with the machine's processors: PyTorch and psutil read it."""
EXECUTABLE = "exe"
"""The link by which a process finds the path of its interpreter; without it TensorFlow ends the process."""
USER = "student"
"""The name of a candidate's user, whatever its number is."""
LISTS = ("/etc/passwd", "/etc/group")
"""The lists of users and groups; in a root folder of its own a process finds one entry in each, its own."""
COUNTED_BY_NAMESPACE = (5, 14)
"""The Linux from which on a user's threads are counted anew in a user namespace."""


def capabilities() -> int:
    """The effective capabilities as bits."""
    data = bytearray(24)
    call("capget", CAPABILITIES_OF_SELF, data)
    words = struct.unpack("6I", data)
    return words[0] | words[3] << 32


def require_private(folder: str) -> None:
    """Refuse a folder that is not ours alone: it is about to be given away, with everything in it. Raises OSError."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077 or status.st_uid != os.geteuid():
        raise OSError(errno.EPERM, f"{folder} is not a folder of mode 0700 of this user's own")


def mount_private(folder: str, size: int, files: int, alone: bool = False) -> None:
    """Leave the machine's namespaces and mount a tmpfs over ``folder``, with a copy of what is in it. Raises OSError.

    It holds ``size`` bytes and ``files`` files and folders; nothing in it can be executed or mapped as code.
    ``alone``: of the folder around it nothing else stays in reach.
    """
    spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET
    if capabilities() >> CAP_SYS_ADMIN & 1:
        call("unshare", spaces)
    else:
        maps = {"uid_map": os.geteuid(), "gid_map": os.getegid()}
        prctl(PR_SET_DUMPABLE, 1)  # or the maps belong to root
        call("unshare", spaces | CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        for name, number in maps.items():
            Path("/proc/self", name).write_text(f"{number} {number} 1")
        if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= COUNTED_BY_NAMESPACE:
            _limit_threads()
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    os.chdir(folder)  # keeps the folder in reach that the tmpfs covers
    if alone:
        cover(os.path.dirname(folder), folder)
    _mount_tmpfs(folder, f"size={size},nr_inodes={files},mode=0700")
    shutil.copytree(".", folder, symlinks=True, dirs_exist_ok=True)


def cover(folder: str, inner: str) -> None:
    """Leave ``folder`` empty but for the empty folder ``inner``, unreadable and read-only. Raises OSError."""
    options = "size=4k,nr_inodes=4,mode=0111"
    _mount_tmpfs(folder, options)
    os.mkdir(inner, 0o700)
    _mount_tmpfs(folder, options, MS_REMOUNT | MS_RDONLY)


def own_proc() -> tuple[str, ...]:
    """The files of PROC, by the number of this process, MEMORY and CPUS."""
    return (*(f"/proc/{os.getpid()}/{name}" for name in PROC), MEMORY, CPUS)


def keep_only(paths: Sequence[str], folder: str, size: int, files: int, numbers: Collection[int] = ()) -> None:
    """Take a root folder that holds ``paths``, /dev/null, ``own_proc`` and ``folder`` in their places, an empty SHARED
    of limited size, LISTS in which USER has the ``numbers``, and nothing else.

    For a process that called ``mount_private``, and gives up the right to change its root and to write here next; of
    other paths not even ``stat`` knows then. Raises OSError.
    """
    root, umask = os.path.dirname(folder), os.umask(0o066)
    os.chdir(folder)  # keeps the folder in reach that the new root covers
    _mount_tmpfs(root, "size=1m,mode=0711")
    for path, source in (*((path, path) for path in (*paths, os.devnull, *own_proc())), (folder, ".")):
        target = root + path
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT))
        call("mount", os.fsencode(source), os.fsencode(target), None, MS_BIND | MS_REC, None)
    os.symlink(str(os.getpid()), f"{root}/proc/self")
    os.symlink(os.path.realpath(sys.executable), f"{root}/proc/{os.getpid()}/{EXECUTABLE}")
    os.makedirs(f"{root}/etc", exist_ok=True)
    users = {
        LISTS[0]: "".join(f"{USER}:x:{number}:{number}:{USER}:{folder}:/bin/false\n" for number in numbers),
        LISTS[1]: "".join(f"{USER}:x:{number}:\n" for number in numbers),
    }
    for path, text in users.items():
        Path(root + path).write_text(text)
        Path(root + path).chmod(0o644)
    os.makedirs(root + SHARED)
    share_alone(root + SHARED, size, files)
    os.umask(umask)
    os.chroot(root)
    os.chdir(folder)


def share_alone(folder: str, size: int, files: int) -> None:
    """Mount a tmpfs of this process's own as SHARED, which is found as ``folder``. Raises OSError."""
    _mount_tmpfs(folder, f"size={size},nr_inodes={files},mode=1777")


def cover_proc() -> None:
    """Leave of /proc nothing but ``own_proc``. Raises OSError."""
    folder, process = os.getcwd(), f"/proc/{os.getpid()}"
    os.chdir("/proc")  # keeps in reach what the tmpfs covers
    options = "size=4k,nr_inodes=20,mode=0111"
    _mount_tmpfs("/proc", options)
    os.mkdir(process, 0o111)
    os.symlink(os.path.basename(process), "/proc/self")
    os.symlink(os.path.realpath(sys.executable), f"{process}/{EXECUTABLE}")
    for path in own_proc():
        os.close(os.open(path, os.O_CREAT))
        call("mount", os.path.relpath(path, "/proc").encode(), path.encode(), None, MS_BIND, None)
    _mount_tmpfs("/proc", options, MS_REMOUNT | MS_RDONLY)
    os.chdir(folder)


def _mount_tmpfs(folder: str, options: str, flags: int = 0) -> None:
    flags |= MS_NOSUID | MS_NODEV | MS_NOEXEC
    call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", flags, options.encode())


def give_up_root(uid: int, readable: Sequence[str], scratch: str | None, must: bool = False) -> None:
    """Take the user id ``uid`` where it can read ``readable``; lose every capability for good.

    ``scratch`` goes with the process: its files become those of ``uid``. Raises OSError, also where the user ``must``
    be taken and is not to be had.
    """
    if must and not (os.geteuid() == 0 and can_work_as(uid, readable, scratch)):
        raise OSError(errno.EPERM, f"user {uid} cannot read {sys.base_prefix}, or does not exist here")
    if capabilities():
        if os.geteuid() == 0 and can_work_as(uid, readable, scratch):
            _hand_over(scratch, uid)
        else:
            uid = os.geteuid()
        if capabilities() >> CAP_SETPCAP & 1:
            with contextlib.suppress(OSError):  # at the first number that the kernel does not know
                for capability in range(64):
                    prctl(PR_CAPBSET_DROP, capability)
            prctl(PR_SET_SECUREBITS, 0xEF)  # root is nothing special, and that is locked
        if uid != os.geteuid():
            _limit_threads()
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        call("capset", CAPABILITIES_OF_SELF, bytes(24))
    prctl(PR_SET_DUMPABLE, 0)


def can_work_as(uid: int, readable: Sequence[str], scratch: str | None) -> bool:
    """Whether ``uid`` may be taken, can read ``readable`` and can reach ``scratch``."""
    try:
        os.setgroups([])
        os.setresgid(uid, -1, -1)
        os.setresuid(uid, -1, -1)  # os.access asks for the real user
    except OSError:
        return False  # not in this user namespace
    try:
        reach = scratch is None or os.access(os.path.dirname(scratch), os.X_OK)
        return reach and all(os.access(path, os.R_OK) for path in readable)
    finally:
        os.setresuid(os.geteuid(), -1, -1)
        os.setresgid(os.getegid(), -1, -1)


def _limit_threads() -> None:
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = THREADS if most == resource.RLIM_INFINITY else min(most, THREADS)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _hand_over(scratch: str | None, uid: int) -> None:
    for folder, _, files in os.walk(scratch) if scratch else ():
        for name in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(name, uid, uid, follow_symlinks=False)
