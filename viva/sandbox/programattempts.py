"""Attempts of a program in bubblewrap to reach what it must not reach; they are harmless where they succeed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from viva.sandbox.confinement import USUAL
from viva.sandbox.privileges import THREADS
from viva.sandbox.program import LINKS, Program
from viva.verdict import SandboxError

SECONDS = 60
"""The attempts take a tenth of one; on a machine that is busy enough, longer."""
_SCRIPT = f"""
exec > {LINKS}/found
[ -e "$1" ] && echo 'it sees the course folder'
(: > /usr/viva-attempt) 2>/dev/null && echo 'it writes into the system'
[ "$(grep -c : /proc/net/dev)" -gt 1 ] && echo 'it has a network'
[ "$(ls /proc | grep -c '^[0-9]')" -gt 12 ] && echo 'it sees other processes'
[ "$(ulimit -d)" = unlimited ] && echo 'its memory has no limit'
[ "$(ulimit -f)" = unlimited ] && echo 'its files have no limit'
(for number in $(seq {2 * THREADS}); do sleep 3 & done) 2>/dev/null
set -- /proc/[0-9]*
[ $# -gt {THREADS + 8} ] && echo 'its processes have no limit'
(: > viva-attempt) 2>/dev/null || echo 'it cannot write into its own folder'
echo done
"""


def faults(course: Path, slot: int = 0) -> list[str]:
    """What does not hold of the sandbox around another program; ``course`` is a folder that it must not see."""
    with tempfile.TemporaryDirectory(prefix="viva-attempts-") as place:
        os.chmod(place, 0o711)
        links, data = Path(place, "links"), Path(place, "data")
        links.mkdir(mode=0o700)
        data.mkdir(mode=0o700)
        try:
            program = Program(["/bin/sh", "-c", _SCRIPT, "sh", str(course)], links, data, {}, USUAL, slot=slot)
        except SandboxError as error:
            return [str(error)]
        try:
            program.process.wait(SECONDS)
            lines = (links / "found").read_text().splitlines() if (links / "found").exists() else []
            why = program.complaint()
        except subprocess.TimeoutExpired:
            return [f"it could not be tested in {SECONDS} seconds"]
        finally:
            program.end()
    return lines[:-1] if lines[-1:] == ["done"] else [why or "it does not start"]
