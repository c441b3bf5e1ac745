"""What every sandboxed process may read."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import viva

_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts"),
    "/etc/alternatives",  # links, by which a system's libraries are found
    *("/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone", "/usr/share/locale", "/etc/mime.types", "/dev/urandom"),
)


@functools.cache
def readable_by_default() -> tuple[str, ...]:
    """The interpreter's libraries, the system's, fonts and time zones: never a home, a course or /proc."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    inside = ("lib", "lib64", "pyvenv.cfg", "share/zoneinfo", "share/fonts", "etc/fonts")
    found = {Path(prefix) / name for prefix in prefixes for name in inside}
    found |= {Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    found |= {Path(viva.__file__).resolve().parent, *map(Path, _SYSTEM)}
    found = {path for path in found if path.exists()}
    return tuple(sorted(str(path) for path in found if not found.intersection(path.parents)))
