"""Protection: the layers of the sandbox that this machine offers, and the fix for each missing one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from viva.sandbox import bubblewrap
from viva.sandbox.landlock import readable_by_default

IN_BUBBLEWRAP = "full, in bubblewrap"
UNTESTED = "it could not be tested"
HANGS = 300
"""Seconds after which a test is given up. It needs a fifth of one; on a machine that is busy enough, minutes."""
_ALWAYS, _BY_LANDLOCK = ("session", "limits", "root", "seccomp"), ("landlock", "together")
PROMISES = {
    "session": "a process dies with its parent",
    "limits": "memory, size of files and number of files are limited",
    "root": "all privileges are dropped",
    "user": "as root: each process has its own user, with a limit of threads",
    "landlock": "only listed files can be read, only a scratch folder can be written",
    "seccomp": "no new processes or programs, no network, no signals to others",
    "namespaces": "the code sees only its own files, in a small temporary file system; threads are limited",
    "together": "the complete sandbox works",
    "bubblewrap": "the complete sandbox works without Landlock, in its own file system",
}
_REMEDIES = {
    "session": "grade on Linux, on x86_64 or aarch64",
    "limits": "grade on Linux with /proc mounted",
    "root": "grade as a normal user",
    "user": "create the environment with an interpreter that every user can read: make setup PYTHON=/usr/bin/python3",
    "landlock": "boot Linux 5.13 or newer with landlock on the kernel's command line, as in "
    f"lsm=landlock,yama,apparmor; or: {bubblewrap.INSTALL}",
    "seccomp": "grade on Linux on x86_64 or aarch64, with a kernel that has CONFIG_SECCOMP_FILTER",
    "together": "fix the problems above",
}
_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user.max_user_namespaces": ("0", "15000"),
}


@dataclass(frozen=True)
class Layer:
    """One part of the sandbox on this machine; ``fault`` is empty when it withstood, ``remedy`` what would fix it."""

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
        """``full with private tmpfs``, ``full``, IN_BUBBLEWRAP, or ``none`` when no sandbox can be set up."""
        if all(map(self.works, (*_ALWAYS, *_BY_LANDLOCK))):
            return "full with private tmpfs" if self.works("namespaces") else "full"
        return IN_BUBBLEWRAP if all(map(self.works, (*_ALWAYS, "bubblewrap"))) else "none"


_known: dict[bool, Protection] = {}


def protection(all_layers: bool = False) -> Protection:
    """The layers that withstood ``viva.sandbox.attempts`` here, which run in a process of their own, in about 0.2 s.

    Bubblewrap is tried where Landlock does not hold, or with ``all_layers``. What does not hold is tried again when
    somebody asks again; the rest is kept until ``forget``.
    """
    result = _known.get(all_layers) or _found(all_layers)
    if result.level != "none" and not any(layer.fault.startswith(UNTESTED) for layer in result.layers):
        _known[all_layers] = result
    return result


def forget() -> None:
    """Ask the machine again the next time: a process that lives for long has to, as a machine changes."""
    _known.clear()


def _found(all_layers: bool) -> Protection:
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
        return f"the program {bubblewrap.PROGRAM} is not installed"
    with tempfile.TemporaryDirectory(prefix="viva-sandbox-") as home:
        return _tried({"bubblewrap"}, bubblewrap.command(readable_by_default(), home))["bubblewrap"]


def _tried(names: Iterable[str], inside: Sequence[str] = ()) -> dict[str, str]:
    """The faults of these layers, where ``inside`` is a command to start the attempts with."""
    home = str(Path(__file__).resolve().parents[2])
    program = (
        f"import sys; sys.path.insert(0, {home!r})\nfrom viva.sandbox import attempts; attempts.main(*sys.argv[1:])"
    )
    command = [*inside, sys.executable, "-I", "-S", "-c", program, ",".join(names), *readable_by_default()]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANGS)
        return json.loads(answer.stdout)
    except subprocess.TimeoutExpired:
        return dict.fromkeys(names, f"{UNTESTED}: the test did not finish in {HANGS} seconds")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        lines = (str(getattr(error, "stderr", None) or "").strip() or str(error)).splitlines()[-1]
        return dict.fromkeys(names, f"{UNTESTED}: {lines}")


def _how_to_open_namespaces() -> str:
    for name, (closed, opened) in _SWITCHES.items():
        with contextlib.suppress(OSError):
            if Path("/proc/sys", *name.split(".")).read_text().strip() == closed:
                return f"sudo sysctl -w {name}={opened}"
    return "sudo sysctl -w user.max_user_namespaces=15000; a container needs permission to unshare and mount"
