"""JupyterLab with formgrader as `make formgrader` starts it, and what its pages load from the network."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.conftest import PROJECT

STAND_IN = "window.MathJax = {Hub: {Config() {}, Queue() {}, Startup: {signal: {Interest: tell => tell('End')}}}};"
"""What formgrader calls of MathJax, which it loads from the network and cannot do without."""
MATHJAX = Path("/usr/share/javascript/mathjax")
"""MathJax 2.7 in whole, where Debian's package libjs-mathjax is installed."""
LATEST = """{
  const script = document.createElement('script');
  script.src = document.currentScript.src.replace('latest.js', 'MathJax.js');
  document.head.append(script);
}"""
"""What the network's latest.js does, once it has found out which the latest is."""
TYPESET = "window.MathJax && MathJax.isReady && new Promise(done => MathJax.Hub.Queue(() => done(true)))"


def stand_in_for_mathjax(route: Route) -> None:
    """Answer a page's request for MathJax with as little as formgrader can do with."""
    route.fulfill(content_type="text/javascript", body=STAND_IN)


def answer_for_mathjax(route: Route) -> None:
    """Answer a page's request for a file of MathJax, as the network would."""
    name = route.request.url.partition("?")[0].partition("/mathjax/")[2].partition("/")[2]
    if name == "latest.js":
        route.fulfill(content_type="text/javascript", body=LATEST)
    else:
        file = (MATHJAX / name).resolve()  # the fonts are links
        route.fulfill(path=file) if file.is_file() else route.fulfill(status=404)


@contextlib.contextmanager
def served(root: Path) -> Iterator[str]:
    """The address that `make formgrader` prints for people to open, while it runs in that course."""
    (root / ".venv").symlink_to(sys.prefix)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = ["formgrader", "--old-file=setup", f"PORT={port}", "OPTIONS=--no-browser"]
    log = root.parent / "log.txt"
    with log.open("wb") as file:
        server = subprocess.Popen(
            ["make", f"--file={PROJECT / 'Makefile'}", *target],
            cwd=root,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield printed_address(server, log)
    finally:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def printed_address(server: subprocess.Popen, log: Path) -> str:
    for _ in range(300):
        if found := re.search(r"http://localhost:\S+", log.read_text()):
            return found[0]
        assert server.poll() is None, log.read_text()
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {log.read_text()}")
