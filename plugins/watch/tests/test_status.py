"""The page that tells what a watcher does, at a desk and on a phone."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from tests.browser import CONTRAST
from viva.course.processes import leftovers
from viva_watch import status
from viva_watch.memory import Event, Memory
from viva_watch.watcher import LOCK

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
NAMES = ("ada", "jürgen.von.und.zu.müller-lüdenscheidt-1234567@university.example", "x" * 200)
SENTENCES = (
    "graded, 12 of 15 checks pass",
    "The submission 'scaled attention (final version 2).ipynb' cannot be read.",
)


def test_the_page_begins_with_the_next_action_and_tells_only_errors_that_are_not_solved(tmp_path):
    (tmp_path / "report").mkdir()
    page = tmp_path / "report" / status.PAGE
    early, late = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
    errors = [Event(early, "Disk full.", "ps1", "ada"), *(Event(NOW, "Killed.", "ps1", name) for name in ("bo", "cy"))]
    known = Memory(started=NOW, waiting=2, errors=errors, last=[Event(late, "graded", "ps1", "bo")])
    status.write(tmp_path, known)
    first = page.read_text().partition("<main>")[2].partition("</div>")[0]
    assert "<strong>2</strong> submissions wait, and no watcher is running" in first and "Start it: viva watch" in first
    lock = os.open(tmp_path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        assert leftovers.take(lock, tmp_path / LOCK)
        assert status.to_do(tmp_path, known) == ("1", "error", status.ERRORS)
        status.write(tmp_path, known)
        assert 'href="#last-errors"' in page.read_text() and 'id="last-errors"' in page.read_text()
        known.errors.pop()
        status.write(tmp_path, known)
        assert "Nothing to do." in page.read_text()
    finally:
        os.close(lock)


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1400, 900)])
def test_the_status_page_fits_and_its_words_stay_whole(tmp_path, browser, width, height):
    root = tmp_path / "a course for the winter of 2026"
    (root / "report").mkdir(parents=True)
    told = [Event(NOW, what, "ps3_scaled_attention", name, 1.4) for name in NAMES for what in SENTENCES]
    status.write(root, Memory(pid=12345, started=NOW, looked=NOW, graded=6, last=told, errors=told[1::2]))
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto((root / "report" / status.PAGE).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CONTRAST) == []
    words = page.evaluate(
        """[...document.querySelectorAll('tbody td:nth-child(-n+2)')].map(cell => {
             const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects().length;
           })"""
    )
    assert set(words) == {1}, "times and names of assignments are not broken into pieces"
    context.close()
