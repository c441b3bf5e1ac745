"""Replies of a stranger's server: dripped without end, cut off, or nothing of HTTP's. Each has to become a sentence."""

from __future__ import annotations

import contextlib
import time

from plugins.lti.tests import platform


def truncated(handler: platform.Handler) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"members": [')
    handler.close_connection = True
    return True


def drip(start: bytes, again: bytes = b" "):
    """An answer of which a byte comes now and then, without end."""

    def act(handler: platform.Handler) -> bool:
        handler.wfile.write(start)
        for _ in range(300):
            try:
                handler.wfile.write(again)
            except OSError:
                break
            time.sleep(0.05)
        handler.close_connection = True
        return True

    return act


OK = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "a dripping body": (drip(OK + b"Content-Length: 1000\r\n\r\n")),
    "a dripping body without a length": (drip(OK + b"Connection: close\r\n\r\n")),
    "a dripping header": (drip(OK + b"X-Long: ", b"x")),
    "a dripping status": (drip(b"HTTP/1.1 200 ", b"x")),
    "headers without end": (drip(OK, b"X: 1\r\n")),
    "continue without end": (drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n")),
    "a dripping size of a chunk": (drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0")),
    "dripping chunks": (drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")),
}
"""By name, what outlasts a limit on the wait for the next byte."""


def raw(data: bytes):
    """These bytes, and then the end of the connection."""

    def act(handler: platform.Handler) -> bool:
        with contextlib.suppress(OSError):
            handler.wfile.write(data)
        handler.close_connection = True
        return True

    return act


def answered(data: bytes, *headers: str) -> bytes:
    lines = b"".join(header.encode() + b"\r\n" for header in headers)
    return OK + lines + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(data) + data


def said(text: str):
    return lambda handler: handler.answer(200, raw=text.replace("U/", f"{handler.system.url}/").encode())


REPLIES = {
    "no status": (raw(b"hello\r\n\r\n"), "is not one of a web server"),
    "a status of its own": (raw(b"HTTP/1.1 999999 x\r\n\r\n"), "is not one of a web server"),
    "a long header": (raw(answered(b"{}", "X: " + "x" * 2**17)), "is not one of a web server"),
    "many headers": (raw(answered(b"{}", *["X: 1"] * 500)), "is not one of a web server"),
    "a chunk of its own": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "ended the connection"),
    "not packed": (raw(answered(b"{}", "Content-Encoding: gzip")), "ended the connection"),
    "a wait without a time": (platform.status(503, Retry_After="soon"), "is not one of a web server"),
    "a wait of 10 000 digits": (platform.status(503, Retry_After="9" * 10**4), "of a web server"),
    "half": (truncated, "ended the connection before its answer was complete."),
    "slow": (platform.slow(4), "did not answer in time"),
} | {name: (act, "did not answer in time") for name, act in DRIPS.items()}
"""By name, the reply, and what is said of it."""
