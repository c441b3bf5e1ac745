"""`viva collect`, as a test of a course types it."""

from __future__ import annotations

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT


@pytest.fixture
def collect(viva):
    def run(*arguments):
        done = viva("collect", f"--assignment={ASSIGNMENT}", *map(str, arguments))
        assert "Traceback" not in done.text
        return done

    return run
