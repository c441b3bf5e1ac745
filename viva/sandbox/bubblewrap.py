"""Bubblewrap: what stands in for Landlock where the kernel has none.

Theory of operation. ``bwrap`` starts the fork server in a file system of its own: what a fork may read, read-only; its
folder, with the scratch folders in it, as ``PLACE``; two devices; a /proc of a process namespace of its own; nothing
else, and no network. Each fork leaves that for a mount namespace of its own and covers /proc, and all of PLACE but its
scratch folder, which becomes a tmpfs of limited size. So a fork has the reach that Landlock would leave it: no course,
no home, no neighbour. The limits, the end of root and the filter of system calls are the same.

It needs namespaces twice, for ``bwrap`` and in the fork; ``viva.sandbox.attempts`` tries both. The program is a
distribution's (Debian: bubblewrap); the package of that name on PyPI is something else.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from viva.sandbox.privileges import SHARED

PROGRAM = "bwrap"
INSTALL = "sudo apt-get install bubblewrap"
PLACE = "/viva"
"""The path inside of the folder of the scratch folders."""
INIT = 1
"""The number of bwrap's own process inside, the parent of the fork server."""
DEVICES = (os.devnull, "/dev/urandom")


def installed() -> bool:
    return shutil.which(PROGRAM) is not None


def command(readable: Iterable[str], folder: str | Path) -> list[str]:
    """The words before a Python command that have it run inside, with ``folder`` as PLACE; both end together."""
    words = [PROGRAM, "--die-with-parent", "--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-uts"]
    for device in DEVICES:
        words += ["--dev-bind", device, device]
    interpreter = [sys.executable] if os.path.exists(sys.executable) else []
    for path in (*interpreter, *readable):
        if path not in DEVICES:
            words += ["--ro-bind", path, path]
    words += ["--perms", "0111", "--tmpfs", SHARED]
    words += ["--proc", "/proc", "--bind", str(folder), PLACE, "--chdir", PLACE]
    return [*words, "--chmod", "0111", "/", "--remount-ro", "/", "--"]


def inside(scratch: str | Path) -> str:
    """The path of a scratch folder inside."""
    return f"{PLACE}/{Path(scratch).name}"


def require_inside(scratch: str | None) -> None:
    """Refuse to go on where the calling process sees the machine's own files. Raises OSError."""
    if scratch is None or os.path.dirname(scratch) != PLACE:
        raise OSError(errno.EINVAL, f"{scratch} is not a folder in {PLACE}")
    if not os.statvfs("/").f_flag & os.ST_RDONLY or os.path.exists("/etc/passwd"):
        raise OSError(errno.EPERM, "bubblewrap did not start. Run viva doctor")
