"""The README's picture of the demo class: a page of feedback, as wide as a phone, up to its first failed check.

    make screenshots      writes docs/pictures/feedback.png

Run it after `make demo`, in the course's folder.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from PIL import Image
from playwright.sync_api import sync_playwright

from viva.commands.doctor import find_browser
from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva.verdict import Verdict

PICTURE = Path(__file__).with_name("pictures") / "feedback.png"
CHROMIUM = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
WIDTH = 430
COLOURS = 128
"""Enough for pages of text; a picture is a third as large."""


def main() -> None:
    browser = find_browser()
    if browser is None:
        sys.exit("There is no browser to take pictures with. Install one: sudo apt-get install chromium")
    app = NbGrader()
    app.initialize([])
    records = Results.of(Course(app.coursedir).directory).read()
    pages = list(Path("feedback").glob("/".join(reversed(shown(records))) + "/*.html")) if records else []
    if not pages:
        sys.exit("There is no feedback to take a picture of. Make some: make demo")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=CHROMIUM.split())
        with contextlib.closing(started):
            page = started.new_page(viewport={"width": WIDTH, "height": 800})
            page.goto(pages[0].resolve().as_uri())
            check = page.locator(".checks > .failed").first.bounding_box()
            height = check["y"] + check["height"]
            page.screenshot(path=PICTURE, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    Image.open(PICTURE).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} kB")


def shown(records: dict[tuple[str, str], SubmissionRecord]) -> tuple[str, str]:
    """The submission with a failed check of which most checks passed."""

    def passed(place: tuple[str, str]) -> tuple[bool, int]:
        verdicts = [result.verdict for _, _, result in records[place].results()]
        return Verdict.FAILED in verdicts, verdicts.count(Verdict.PASSED)

    return max(sorted(records), key=passed)


if __name__ == "__main__":
    main()
