"""What a container of deploy/compose.yaml may do, in bubblewrap: for tests on machines that have no containers.

An ordinary user without capabilities, who cannot get any; a root that is read-only; one tmpfs; process 1 of its own;
and a filter that answers system calls as a container runtime's does by default where there is no CAP_SYS_ADMIN: no
namespaces, no mounts. It has this machine's files, and its network.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import tempfile
from pathlib import Path

import yaml

from tests.conftest import BIN, PROJECT, lacking
from viva.sandbox.syscalls import ALLOW, AUDIT_ARCH, ERRNO, JEQ, JSET, LOAD, MACHINE, NAMESPACES, NUMBERS, RETURN

REFUSED = """
unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr
keyctl add_key request_key bpf perf_event_open open_by_handle_at kexec_load init_module finit_module delete_module
reboot swapon swapoff acct quotactl syslog settimeofday sethostname setdomainname vhangup lookup_dcookie userfaultfd
""".split()
COMPOSE = yaml.safe_load((PROJECT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))


def default_filter() -> int:
    """A file descriptor with the program, as bubblewrap reads it."""
    program = [(LOAD, 0, 0, 4), (JEQ, 1, 0, AUDIT_ARCH[MACHINE]), (RETURN, 0, 0, ERRNO | errno.EPERM), (LOAD, 0, 0, 0)]
    for name in REFUSED:
        program += [(JEQ, 0, 1, NUMBERS[name]), (RETURN, 0, 0, ERRNO | errno.EPERM)]
    program += [(JEQ, 0, 1, NUMBERS["clone3"]), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    program += [(JEQ, 0, 3, NUMBERS["clone"]), (LOAD, 0, 0, 16), (JSET, 0, 1, NAMESPACES)]
    program += [(RETURN, 0, 0, ERRNO | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    file = tempfile.TemporaryFile()  # noqa: SIM115  (whoever starts bubblewrap closes it)
    file.write(b"".join(struct.pack("HBBI", *instruction) for instruction in program))
    file.seek(0)
    number = os.dup(file.fileno())
    file.close()
    return number


def inside(service: str, secrets: Path, program: int) -> list[str]:
    """The beginning of a command line that runs the rest as this service of the Compose file.

    ``secrets`` is the folder with its keys, ``program`` the descriptor of a filter, which the process has to inherit.
    """
    if not shutil.which("bwrap"):
        lacking("There is no bubblewrap here. Install it: sudo apt-get install bubblewrap")
    known = COMPOSE["services"][service]
    assert known["read_only"] and known["init"] and known["cap_drop"] == ["ALL"]
    user, group = known["user"].split(":")
    (tmp,) = known["tmpfs"]
    place, _, options = tmp.partition(":")
    assert options == "size=2g,mode=1777"
    keys = [part for one in known["secrets"] for part in ("--ro-bind", str(secrets / one), f"/run/secrets/{one}")]
    return [
        "bwrap", "--unshare-user", "--uid", user, "--gid", group, "--cap-drop", "ALL", "--die-with-parent",
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--seccomp", str(program),
        "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
        "--perms", "1777", "--size", str(2 << 30), "--tmpfs", place, "--tmpfs", "/run", *keys,
        "--ro-bind", str(PROJECT), str(PROJECT), "--chdir", place,
        "--clearenv", "--setenv", "PATH", f"{BIN}:/usr/bin:/bin", "--setenv", "HOME", place,
        "--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--setenv", "MPLCONFIGDIR", f"{place}/matplotlib",
    ]  # fmt: skip
