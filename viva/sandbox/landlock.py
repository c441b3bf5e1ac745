"""Landlock: a process names the files it still needs, and the kernel refuses it every other, for good.

Version 1 came with Linux 5.13. Version 2 added moving files between folders (with 1, ``os.rename`` between two folders
is EXDEV), 3 truncation, 4 TCP, 5 ioctl on devices, 6 abstract sockets and signals; what a version lacks, the filter of
system calls has to forbid. Landlock does not cover ``stat``, ``chmod``, ``chown`` and ``utime`` in any version.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

import viva
from viva import doors
from viva.sandbox.syscalls import call

EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK, REFER = 1 << 6, 1 << 9, 1 << 11, 1 << 13
ON_FILES = READ | WRITE | TRUNCATE
"""The rights that a rule for a single file can have."""


def version(at_most: int | None = None) -> int:
    """The version to use here, at least 1; ``at_most`` stands for an older kernel. Raises OSError."""
    abi = call("landlock_create_ruleset", None, 0, 1)
    abi = abi if at_most is None else min(abi, at_most)
    if abi < 1:
        raise OSError(errno.ENOSYS, "there is no Landlock")
    return abi


def restrict(readable: Iterable[str], writable: Iterable[str], at_most: int | None = None) -> None:
    """Leave the calling process only ``readable``, the folders ``writable`` and /dev/null; nothing can be executed.

    Needs ``no_new_privs``. Raises OSError, also for a path that does not exist.
    """
    abi = version(at_most)
    handled = REFER - 1 | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL if abi >= 5 else 0)
    layout = struct.pack("3Q", handled, 3, 3)  # files; TCP bind and connect; abstract sockets and signals
    layout = layout[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = call("landlock_create_ruleset", layout, len(layout), 0)
    rules = [(path, READ | LIST) for path in readable]
    rules.append((os.devnull, ON_FILES))
    rules += [(path, handled & ~(EXECUTE | MAKE_CHAR | MAKE_SOCK | MAKE_BLOCK | IOCTL)) for path in writable]
    for path, rights in rules:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= ON_FILES
        call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", rights & handled, descriptor), 0)
        os.close(descriptor)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


# What every sandboxed process may read.

_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts"),
    "/etc/alternatives",  # links, by which a system's libraries are found
    "/usr/share/matplotlib",  # where Debian's keeps its fonts and styles
    "/sys/devices/system/cpu",  # how many processors there are, and of what kind
    *("/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone", "/usr/share/locale", "/etc/mime.types", "/dev/urandom"),
)


@functools.cache
def readable_by_default() -> tuple[str, ...]:
    """The interpreter's libraries, the system's, fonts and time zones: never a home, a course or /proc.

    Each path as it is written and as it is resolved: a library may ask for its own files by either.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    inside = ("lib", "lib64", "pyvenv.cfg", "share/zoneinfo", "share/fonts", "etc/fonts")
    paths = {Path(prefix) / name for prefix in prefixes for name in inside}
    paths |= {Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    paths |= {Path(viva.__file__).parent, *map(Path, _SYSTEM), *map(Path, doors.CODECS.folders())}
    paths = {path for path in paths if path.exists()}
    paths |= {path.resolve() for path in paths}
    return tuple(sorted(str(path) for path in paths if not paths.intersection(path.parents)))
