"""A JupyterHub with a course as a service, set up as docs/hub.md says, on a machine with accounts of its own."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import BIN, PROJECT, SHORT
from tests.flow import machine
from tests.flow.machine import Machine

PAGE = PROJECT / "docs" / "hub.md"
OWNER, COURSE = "grader-attention", "/home/grader-attention/attention"
STUDENTS, GRADERS = ("student1", "student2", "student3"), ("grader1", "grader2")
PASSWORD = secrets.token_hex(16)
WATCHED = ["c.Watch.collect = True", "c.Watch.release = True"]


def commands() -> str:
    """What docs/hub.md has root type."""
    return "\n".join(re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE))


def files() -> dict[str, str]:
    """The files that docs/hub.md has written, by path."""
    found = re.findall(r"^`(/\S+)`:\n\n```\w+\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found
    return dict(found)


def settings() -> list[str]:
    """The lines of the course's own nbgrader_config.py that docs/hub.md has changed."""
    (block,) = re.findall(r"^```python\n(c\.CourseDirectory.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return block.splitlines()


@dataclass
class Hub:
    """One that runs: its machine, its address, and what it says."""

    machine: Machine
    address: str
    service_port: int
    log: Path

    def inside(self, path: str) -> Path:
        """Where a file of that machine's /home, /srv or /etc lies on this one."""
        return self.machine.folder / path.removeprefix("/")


def _ports(number: int) -> list[int]:
    """Free ports of this machine."""
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


@contextlib.contextmanager
def running(folder: Path, secret: str, watched: bool = False) -> Iterator[Hub]:
    """A hub, with one assignment of the course released through the exchange; ``secret`` stands in its hidden tests.

    ``watched``: ``viva watch`` is a service of the hub, as docs/watch.md says.
    """
    needed = [Path(sys.prefix), Path(sys.base_prefix), PROJECT / "viva", PROJECT / "student", PROJECT / "plugins"]
    path = f"{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    with machine.running(folder, needed, [PROJECT], path) as made:
        made.run("bash", "-euxc", commands())
        for user in (*STUDENTS, *GRADERS):
            made.run("useradd", "--create-home", "--shell", "/bin/bash", user)
        made.run("bash", "-c", "chmod 0700 /home/*")
        _lay_course(made, secret, WATCHED if watched else [])
        for file, text in files().items():
            (folder / file.removeprefix("/")).write_text(text.replace("/opt/viva", sys.prefix))
        public, internal, proxy, service = _ports(4)
        with (folder / "srv/jupyterhub/jupyterhub_config.py").open("a") as config:
            config.write(_of_this_test(public, internal, proxy, service))
            if watched:
                config.write((PROJECT / "deploy/jupyterhub_watch.py").read_text().replace("/opt/viva", sys.prefix))
        log = folder / "hub.log"
        with log.open("w") as said:
            process = made.start("jupyterhub", cwd="/srv/jupyterhub", stdout=said, stderr=subprocess.STDOUT)
        address = f"http://127.0.0.1:{public}"
        try:
            _wait(process, log)
            yield Hub(made, address, service, log)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
    process.wait()


def _lay_course(made: Machine, secret: str, more: list[str]) -> None:
    """Put a course with one assignment where docs/hub.md wants it, and release that."""
    course = made.folder / COURSE.removeprefix("/")
    shutil.copytree(PROJECT / "source" / SHORT, course / "source" / SHORT)
    shutil.copy(PROJECT / "source" / "header.ipynb", course / "source")
    (notebook,) = (course / "source" / SHORT).glob("*.ipynb")
    hidden = "### BEGIN HIDDEN TESTS"
    text = notebook.read_text()
    assert hidden in text
    notebook.write_text(text.replace(hidden, f"{hidden} # {secret}"))
    config = (PROJECT / "nbgrader_config.py").read_text()
    for line in settings():
        name = line.split(" = ")[0]
        config, changed = re.subn(rf"^{re.escape(name)} = .*$", line, config, flags=re.MULTILINE)
        assert changed == 1, name
    (course / "nbgrader_config.py").write_text("\n".join([config, *more, ""]))
    made.run("chown", "--recursive", f"{OWNER}:{OWNER}", COURSE)
    made.run("viva", "release", "--no-audit", SHORT, user=OWNER, cwd=COURSE)
    made.run("nbgrader", "release_assignment", SHORT, user=OWNER, cwd=COURSE)


def _of_this_test(public: int, internal: int, proxy: int, service: int) -> str:
    """What a hub has of its own: how people log in, and where it listens."""
    return f"""
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{PASSWORD}"
c.JupyterHub.bind_url = "http://127.0.0.1:{public}"
c.JupyterHub.hub_port = {internal}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.services[0]["url"] = "http://127.0.0.1:{service}"
"""


def _wait(process: subprocess.Popen, log: Path) -> None:
    for _ in range(3000):
        if "JupyterHub is now running" in log.read_text():
            return
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    pytest.fail(f"The hub did not start: {log.read_text()}")


def lacking() -> str:
    """What this machine lacks for a hub, as a sentence; empty when it lacks nothing."""
    if os.geteuid():
        return "Only root can start a hub with accounts of its own: sudo make proofs"
    if not shutil.which("configurable-http-proxy"):
        return "There is no configurable-http-proxy here. Install it: npm install -g configurable-http-proxy"
    return ""
