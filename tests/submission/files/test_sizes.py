"""No submission takes the time or the memory of the process that reads it."""

from __future__ import annotations

import contextlib
import resource
import signal

import pytest

from viva.submission.files.sizes import limited
from viva.verdict import SubmissionError


@pytest.fixture(autouse=True)
def same():
    """Whatever happens inside, the process is as before."""
    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGVTALRM)
    yield
    assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGVTALRM)) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_what_takes_too_long_is_left_whoever_catches_exceptions():
    with pytest.raises(SubmissionError, match=r"needs more than 0\.02 seconds to be read"), limited(0.02):
        while True:
            with contextlib.suppress(Exception):
                list(range(10**7))


def test_what_takes_too_much_memory_is_left():
    with pytest.raises(SubmissionError, match="needs more than 64 MB of memory to be read"), limited(5, 64 << 20):
        bytearray(1 << 30)


def test_what_stays_within_the_limits_is_done():
    with limited(5, 64 << 20):
        assert len(bytearray(1 << 20)) == 1 << 20
