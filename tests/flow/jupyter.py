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
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.conftest import PROJECT

STAND_IN = "window.MathJax = {Hub: {Config() {}, Queue() {}, Startup: {signal: {Interest: tell => tell('End')}}}};"
"""What nbgrader's own template calls of MathJax, which it loads from the network and cannot do without."""


def stand_in_for_mathjax(route: Route) -> None:
    """Answer a page's request for MathJax with as little as formgrader can do with."""
    route.fulfill(content_type="text/javascript", body=STAND_IN)


@contextlib.contextmanager
def served(root: Path, port: int = 0) -> Iterator[str]:
    """The address that `make formgrader` prints for people to open, while it runs; 0 is any free port."""
    if not (root / ".venv").is_symlink():
        (root / ".venv").symlink_to(sys.prefix)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = port or free.getsockname()[1]
    target = ["formgrader", "--old-file=setup", f"PORT={port}", "OPTIONS=--no-browser"]
    log = root.parent / "log.txt"
    with log.open("wb") as file:
        server = subprocess.Popen(
            ["make", f"--file={PROJECT / 'Makefile'}", *target],
            cwd=root,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"JUPYTERLAB_WORKSPACES_DIR": str(root.parent / "workspaces")},  # opens no other's files
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


def server_of(address: str) -> str:
    """The server alone of an address that logs in."""
    return "{0.scheme}://{0.netloc}".format(urlsplit(address))


@contextlib.contextmanager
def logged_in(browser: Browser, address: str) -> Iterator[Page]:
    """A page without a network, whose user is logged in to its ``server``. No script of it may fail."""
    server, errors = server_of(address), []
    with browser.new_context(viewport={"width": 1400, "height": 900}) as context:
        context.route(lambda url: url.startswith("http") and not url.startswith(server), lambda route: route.abort())
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.server = server
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        yield page
    assert errors == []


def printed_address(server: subprocess.Popen, log: Path) -> str:
    for _ in range(300):
        if found := re.search(r"http://localhost:\S+", log.read_text()):
            return found[0]
        assert server.poll() is None, log.read_text()
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {log.read_text()}")
