"""Messages keep their bounds on a pipe, and no side that is slow, silent or gone is waited for without end."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import threading
import time

import pytest

from viva.engine import pipe as messages
from viva.verdict import WireError


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def test_messages_keep_their_bounds(pipe):
    reading, writing = pipe
    for payload in (b"", b"a", b"b" * 1000):
        messages.write(writing, payload)
    assert [messages.read(reading, timeout=1) for _ in range(3)] == [b"", b"a", b"b" * 1000]


@pytest.mark.parametrize("timeout", [None, 20])
@pytest.mark.parametrize("blocking", [True, False])
def test_a_message_larger_than_the_pipe_arrives_whole(pipe, timeout, blocking):
    reading, writing = pipe
    os.set_blocking(reading, blocking)
    os.set_blocking(writing, blocking)
    payload = random.Random(1).randbytes(1_000_003)
    thread = threading.Thread(target=messages.write, args=(writing, payload, timeout))
    thread.start()
    assert messages.read(reading, timeout=timeout) == payload
    thread.join()


def test_a_message_that_comes_byte_by_byte_arrives_whole(pipe):
    reading, writing = pipe

    def drip():
        for byte in struct.pack(">I", 5) + b"abcde":
            os.write(writing, bytes([byte]))
            time.sleep(0.002)

    thread = threading.Thread(target=drip)
    thread.start()
    assert messages.read(reading, timeout=5) == b"abcde"
    thread.join()


@pytest.mark.parametrize("sent", [b"", b"\0\0", struct.pack(">I", 5), struct.pack(">I", 5) + b"abc"])
def test_a_side_that_closes_is_the_end_of_the_file(pipe, sent):
    reading, writing = pipe
    os.write(writing, sent)
    os.close(writing)
    with pytest.raises(EOFError):
        messages.read(reading, timeout=1)


def test_writing_to_a_side_that_closed_is_the_end_of_the_file(pipe):
    reading, writing = pipe
    os.close(reading)
    with pytest.raises(EOFError):
        messages.write(writing, b"abc")


def test_a_message_longer_than_the_limit_is_refused(pipe, monkeypatch):
    reading, writing = pipe
    messages.write(writing, b"abcdef")
    with pytest.raises(WireError, match="6 bytes"):
        messages.read(reading, limit=5)
    monkeypatch.setattr(messages, "MESSAGE", 5)
    with pytest.raises(WireError, match="6 bytes"):
        messages.write(writing, b"abcdef")


@pytest.mark.parametrize("sent", [b"", struct.pack(">I", 5) + b"abc"])
def test_a_silent_side_is_a_timeout(pipe, sent):
    reading, writing = pipe
    os.write(writing, sent)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        messages.read(reading, timeout=0.1)
    assert 0.09 < time.monotonic() - started < 2


def test_a_side_that_does_not_read_is_a_timeout(pipe):
    with pytest.raises(TimeoutError):
        messages.write(pipe[1], bytes(10**6), timeout=0.1)


def test_a_drip_does_not_put_off_the_deadline(pipe):
    reading, writing = pipe
    os.write(writing, struct.pack(">I", 1000))
    done = threading.Event()

    def drip():
        while not done.wait(0.02):
            os.write(writing, b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(TimeoutError):
            messages.read(reading, timeout=0.2)
    finally:
        done.set()
        thread.join()
