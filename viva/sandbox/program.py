"""Another program than Python in bubblewrap: a file system, processes and limits of its own, and no network.

Theory of operation. Python's processes are forks of a fork server, and hold themselves in the sandbox. Another program,
as the kernel of R, is started by ``bwrap``, and cannot leave what that has set up: the machine's programs and
libraries, read-only; of /etc only what programs need; a /tmp and a home of limited size, with copies of the notebook's
files; one folder that it shares with the grader, for the kernel's sockets; process numbers and a hostname of its own;
no network. Root's programs become the user of a slot, others a user of a namespace: of root itself Linux counts no
processes. A shell inside sets the limits, then becomes the program. It may start processes, as a shell must: how
many, and how much memory all of them take, is limited. With ``bwrap`` ends whatever was started in it.

The notebook's files are copied, so that nothing outside changes. The folder of the sockets is on disk: who waits for
the program watches its size (``Program.overflows``).
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from viva.folder import holds_more
from viva.sandbox.bubblewrap import INSTALL, PROGRAM, installed
from viva.sandbox.confinement import FIRST_UID, Limits
from viva.sandbox.landlock import readable_by_default
from viva.sandbox.privileges import THREADS, USER
from viva.verdict import SandboxError

HOME, LINKS, DATA = "/home/student", "/viva", "/data"
"""The paths inside of the folder to work in, of the folder that is shared, and of the notebook's files."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": HOME,
    "USER": USER,
    "LOGNAME": USER,
    "TMPDIR": "/tmp",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NBGRADER_EXECUTION": "autograde",
}
"""The environment of the program: it tells nothing of the outside."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SHOWN = (*(f"{path}/" for path in _SYSTEM), "/proc/", "/dev/", "/sys/")
"""What every program sees, or none."""
_SETTINGS = (
    *("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "mime.types"),
    *("R", "java*", "julia*", "octave*", "inputrc", "locale*", "magic*", "papersize", "terminfo", "texmf", "xdg"),
)
"""What programs need of /etc: nothing of it is secret."""
_OF_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What lies in a folder of programs of its own."""
LINKED_BYTES, LINKED_FILES = 1 << 20, 64
"""The most that may lie in the folder that is shared: sockets, which take no room."""
_INSIDE = """
cp -R {data}/. {home} 2>/dev/null
trap '' XFSZ
ulimit -c 0; ulimit -t {seconds}; ulimit -f {blocks}; ulimit -n {files}; ulimit -d {data_kilobytes}
ulimit -u {processes} 2>/dev/null || ulimit -p {processes}
exec "$@"
"""
COMPLAINT = 2000
"""The last bytes of its errors, which are looked at."""
BLOCK = 512
"""Bytes of a block of the shell's limit on files."""


class Program:
    """A program that was started, inside bubblewrap or, without a sandbox, beside this process."""

    def __init__(
        self,
        command: list[str],
        links: Path,
        data: Path,
        environment: Mapping[str, str],
        limits: Limits,
        readable: Iterable[str] = (),
        slot: int | None = 0,
    ) -> None:
        """Start ``command``, whose paths are those inside; it shares the folder ``links``, and finds a copy of
        ``data``.

        ``readable`` are more paths that it can read; ``slot`` as in ``confinement.enter``. With ``slot`` None it runs
        without a sandbox, in the folder ``data`` itself. Raises SandboxError.
        """
        self.limits, self.links, self.boxed = limits, links, slot is not None
        self.root = 0
        """The number of the first process inside, as it is called outside."""
        self.errors = os.memfd_create("errors")
        words, told, tell = command, -1, -1
        own: dict[str, Any] = {"env": {**os.environ, **environment}, "cwd": data}
        if slot is not None:
            if not installed():
                raise SandboxError(f"bubblewrap is not installed on this machine. Install it: {INSTALL}")
            told, tell = os.pipe()
            uid = None if os.geteuid() else FIRST_UID + slot
            if uid is not None:
                _hand_over(uid, links, data)
            paths = _readable(command[0], readable)
            words = [*_around(paths, links, data, tell, uid), *_within(limits), *command]
            own = {"env": {**ENVIRONMENT, **environment}, "cwd": "/"}
        try:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                pass_fds=[tell] if self.boxed else [],
                start_new_session=True,
                **own,
            )
        except OSError as error:
            raise SandboxError(f"the program {words[0]} does not start: {error.strerror}") from error
        finally:
            if self.boxed:
                os.close(tell)
        self.root = self.process.pid
        if self.boxed:
            with os.fdopen(told, "rb") as answer, contextlib.suppress(ValueError, KeyError):
                self.root = int(json.loads(answer.read())["child-pid"])

    def ended(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        """End it, and whatever it has started."""
        if not self.boxed:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        if self.errors >= 0:
            os.close(self.errors)
            self.errors = -1

    def complaint(self) -> str:
        """The last line that it wrote as an error."""
        size = os.fstat(self.errors).st_size
        tail = os.pread(self.errors, COMPLAINT, max(0, size - COMPLAINT))
        lines = tail.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def interrupt(self) -> None:
        """Send it the signal of Ctrl-C; the first process inside is bubblewrap's."""
        for pid in _children(self.root) if self.boxed else [self.root]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGINT)

    def processes(self) -> list[int]:
        """The numbers of all its processes, as they are called outside."""
        found, todo = [], [self.root]
        while todo:
            found.append(pid := todo.pop())
            todo += _children(pid)
        return found

    def overflows(self) -> str:
        """The kind of a note on what its processes take too much of; empty where they do not."""
        if not self.boxed:
            return ""
        pages = 0
        for pid in self.processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(f"/proc/{pid}/statm").read_text().split()
                pages += int(fields[1]) - int(fields[2])  # resident, without what is shared
        if pages * os.sysconf("SC_PAGE_SIZE") > self.limits.memory_bytes:
            return "kernel_memory"
        return "kernel_files" if holds_more(self.links, LINKED_BYTES, LINKED_FILES) else ""


def _children(pid: int) -> list[int]:
    """The processes that a process has started; none where the kernel does not say."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                children += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return children


def _hand_over(uid: int, *folders: Path) -> None:
    """Give a user some folders and what is in them."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in (place, *(os.path.join(place, name) for name in names)):
                os.chown(name, uid, uid, follow_symlinks=False)


def _around(readable: Iterable[str], links: Path, data: Path, tell: int, uid: int | None) -> list[str]:
    """The words that start bubblewrap, up to the command inside, which root has become the user ``uid`` for."""
    words = [PROGRAM, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--info-fd", str(tell)]
    if uid is None:
        words += ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    else:
        words += [f"--unshare-{what}" for what in ("ipc", "pid", "net", "uts", "cgroup-try")]
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    words += ["--hostname", USER]
    for path in _SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "0755", "--dir", os.path.dirname(HOME)]
    room = str(Limits().scratch_bytes)
    for folder in ("/tmp", "/dev/shm", HOME):
        words += ["--perms", "1777", "--size", room, "--tmpfs", folder]
    paths = [*readable]  # after /tmp, where an environment may lie
    for folder in sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"}):
        words += ["--perms", "0755", "--dir", folder]  # else nobody but root goes through it
    for path in paths:
        words += ["--ro-bind", path, path]
    words += ["--bind", str(links), LINKS, "--ro-bind", str(data), DATA, "--chdir", HOME, "--remount-ro", "/", "--"]
    if uid is not None:
        words += ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all"]
    return words


def _readable(program: str, others: Iterable[str]) -> Iterator[str]:
    """The paths that a program can read beside the machine's programs and libraries."""
    found = shutil.which(program) or program
    paths = [path for name in _SETTINGS for path in sorted(glob.glob(f"/etc/{name}"))]
    if folder := _environment_of(found):
        paths.append(folder)
    elif found != sys.executable:
        paths.append(found)
    if found == sys.executable or folder == sys.prefix:  # a kernel that is written in Python
        paths += [*readable_by_default(), os.path.dirname(os.path.realpath(sys.executable))]
    wanted = set(filter(os.path.exists, [*paths, *others]))
    for path in sorted(wanted):
        inside = any(str(parent) in wanted for parent in Path(path).parents)
        if not inside and not f"{path}/".startswith(_SHOWN):
            yield path


def _environment_of(program: str) -> str:
    """The folder of the environment that a program lies in, as of conda; empty where it is none."""
    folder = os.path.dirname(os.path.dirname(program))
    return folder if any(os.path.exists(os.path.join(folder, name)) for name in _OF_ENVIRONMENT) else ""


def _within(limits: Limits) -> list[str]:
    """The words that set the limits inside, up to the command."""
    script = _INSIDE.format(
        data=DATA,
        home=HOME,
        seconds=limits.cpu_seconds,
        blocks=limits.file_bytes // BLOCK,
        files=limits.open_files,
        data_kilobytes=limits.memory_bytes // 1024,
        processes=THREADS,
    )
    return ["/bin/sh", "-c", script, "sh"]
