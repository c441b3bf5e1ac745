"""A probe in the sandbox of a container: it lists what a student's process can reach.

Theory of operation. Nobody knows beforehand what a container allows. So before a submission is graded, a candidate is
forked as for any notebook and tries to open each file that holds hidden tests, to write the result, to start a process
and to open a socket. It changes nothing: what it makes, if it can, is empty, and removed. What the result says of
protection is the result.
"""

from __future__ import annotations

import ast
import errno
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viva.engine.grading import Grader
from viva.engine.outcome import outputs_of
from viva.engine.session import Died, Session
from viva.sandbox.confinement import Limits, Sandbox
from viva.sandbox.protection import protection
from viva.verdict import SandboxError
from viva.wording import counted

PROBE = """
import os, socket

def refused(attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        return error.errno
    return 0

def read(path):
    os.close(os.open(path, os.O_RDONLY))

def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))

def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

dict(
    user=os.getuid(),
    secrets=tuple(refused(read, path) for path in {secrets}),
    result=refused(write, {result}),
    outside=refused(read, {outside}),
    process=refused(fork),
    network=refused(lambda: socket.socket().close()),
)
"""
SECONDS = 30.0
"""The probe may take so long; it needs milliseconds."""


@dataclass(frozen=True)
class Reach:
    """What one candidate came to: its user, and for each attempt the number of the error; 0 where it got through."""

    user: int
    secrets: tuple[int, ...]
    result: int
    outside: int
    """For a file that every user may read."""
    process: int
    network: int

    @property
    def holds(self) -> bool:
        """Whether student code can neither learn what is hidden nor decide what is written."""
        return all((*self.secrets, self.result, self.process, self.network))

    def layers(self, sandbox: Sandbox | None) -> dict[str, bool]:
        """The parts of the protection, and whether each was seen to hold."""
        return {
            "its own user": self.user not in (0, os.geteuid()),
            "Landlock": bool(sandbox and not sandbox.other_user and not sandbox.bubblewrap and self.outside),
            "its own file system": self.outside == errno.ENOENT,
            "a system call filter": bool(self.process and self.network),
        }

    def sentence(self, sandbox: Sandbox | None) -> str:
        """Which protection held."""
        layers = self.layers(sandbox)
        held, missing = ([name for name, works in layers.items() if works is expected] for expected in (True, False))
        if not self.holds:
            return (
                "Graded WITHOUT A SANDBOX, because the zip was made with --no-sandbox: student code could read "
                "hidden tests."
            )
        without = f", without {' and '.join(missing)}" if missing else ""
        return (
            f"Protection: the code ran with {', '.join(held)}{without}. This was tested before grading: the code "
            f"could not open any of {counted(len(self.secrets), 'file')} with hidden tests, write a result, start a "
            "process or open a connection."
        )


def sandboxes(limits: Limits, examiners: Limits) -> list[tuple[Sandbox, Sandbox]]:
    """The sandboxes around candidate and examiner that may hold here, the better first.

    The second, without Landlock, is for a container that is thrown away: a user of its own can leave files in /tmp.
    """
    layers = protection()
    options: list[dict[str, Any]] = [{}] if layers.level != "none" else []
    if os.geteuid() == 0 and all(map(layers.works, ("session", "limits", "root", "seccomp"))):
        options.append({"other_user": True, "bubblewrap": False})
    return [
        (Sandbox.for_candidate(limits=limits, **arguments), Sandbox.for_examiner(limits=examiners, **arguments))
        for arguments in options
    ]


def reach(grader: Grader, secrets: Iterable[Path], results: Path) -> Reach:
    """What a candidate of this grader can reach. Raises SandboxError where none can be started, or it does not say."""
    written = results / "viva-probe"
    with tempfile.NamedTemporaryFile(prefix="viva-outside-") as outside:
        os.fchmod(outside.fileno(), 0o644)
        source = PROBE.format(secrets=list(map(str, secrets)), result=repr(str(written)), outside=repr(outside.name))
        try:
            with Session(grader.candidates, grader.examiners) as session:
                outputs = outputs_of(session.candidate(SECONDS, do="run", source=source))
            outcome = ast.literal_eval(outputs[-1]["data"]["text/plain"])
            return Reach(**outcome)
        except (Died, IndexError, KeyError, TypeError, ValueError, SyntaxError) as error:
            raise SandboxError(f"The test of the sandbox failed, so its protection is unknown: {error!r}.") from error
        finally:
            written.unlink(missing_ok=True)
