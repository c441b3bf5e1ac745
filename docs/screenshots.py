"""Pictures of the demo class for the README: the report, a page of feedback on a phone, and formgrader.

    make screenshots      writes docs/pictures/*.png

Run it after `make demo`, in the course's folder.
"""

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

from nbgrader.apps.baseapp import NbGrader
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from viva.commands.doctor import find_browser
from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva.verdict import Verdict

PICTURES = Path(__file__).with_name("pictures")
CHROMIUM = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
COLOURS = 128
"""Enough for pages of text; a picture is a third as large."""


def main() -> None:
    path = find_browser()
    if path is None:
        sys.exit("There is no browser to take pictures with. Install one: sudo apt-get install chromium")
    app = NbGrader()
    app.initialize([])
    course = Course(app.coursedir)
    if not Path("report", "index.html").is_file():
        sys.exit("There is no report/index.html to take a picture of. Make one: make demo")
    records = Results.of(course.directory).read()
    assignment, student = likeliest(records)
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, contextlib.closing(start(playwright, path)) as browser:
        report = Path("report/index.html").resolve().as_uri()
        take(browser, f"{report}#a{1 + sorted({name for name, _ in records}).index(assignment)}", "report", 1200, 1000)
        (page,) = Path("feedback", student, assignment).glob("*.html")
        take(browser, page.resolve().as_uri(), "feedback", 420, 1700)
        with formgrader() as address:
            take_formgrader(browser, address, assignment)


def start(playwright, path: str) -> Browser:
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM.split())


def likeliest(records: dict[tuple[str, str], SubmissionRecord]) -> tuple[str, str]:
    """The submission with as many verdicts as any, and most checks passed."""

    def variety(record: SubmissionRecord) -> tuple[int, int]:
        verdicts = [result.verdict for _, _, result in record.results()]
        return len(set(verdicts)), verdicts.count(Verdict.PASSED)

    return max(sorted(records), key=lambda place: variety(records[place]))


def take(browser: Browser, address: str, name: str, width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    shoot(page, name)


def shoot(page: Page, name: str) -> None:
    picture = PICTURES / f"{name}.png"
    page.screenshot(path=picture)
    page.close()
    Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)
    print(f"{picture.relative_to(Path.cwd())}: {picture.stat().st_size // 1024} kB")


def take_formgrader(browser: Browser, address: str, assignment: str) -> None:
    """The list of an assignment's submissions, opened as a grader does."""
    page = browser.new_page(viewport={"width": 1200, "height": 700})
    page.goto(address)
    server = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    page.goto(f"{server}/formgrader/manage_submissions/{assignment}")
    page.locator("#main-table .student-id").nth(5).wait_for()
    shoot(page, "formgrader")


@contextlib.contextmanager
def formgrader() -> Iterator[str]:
    """The address that `make formgrader` prints, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = Path("report", "formgrader.log")
    with log.open("wb") as file:
        command = ["make", "formgrader", f"PORT={port}", "OPTIONS=--no-browser"]
        server = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        for _ in range(600):
            if found := re.search(r"http://localhost:\S+", log.read_text()):
                break
            time.sleep(0.1)
        else:
            sys.exit(f"JupyterLab did not start; {log} says why.")
        yield found[0]
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
        log.unlink()


if __name__ == "__main__":
    main()
