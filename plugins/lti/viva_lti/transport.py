"""How requests travel: one clock for each, limits on size and depth, and the sentence for an answer that did not come.

Theory of operation. A stranger's server can be slow at any place: in the handshake, a header, "100 Continue" without
end, the size of a chunk, the body. A limit on the wait for the next byte sees none of these. So one clock runs for a
whole request, with its further attempts and the waits between them; at its end the connections are shut down, and
whatever waits for a byte there gets none. urllib3 tries again: for an answer that says 429, 502, 503 or 504, and for
what may be sent twice also after a lost answer.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import msgspec
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError, ProtocolError
from urllib3.util import Retry

from viva.cleaning import plaintext
from viva.verdict import CourseError

SECONDS = 30.0
"""To connect, and between two pieces of an answer."""
LONGEST = 120.0
"""Seconds for one whole request: its attempts, the waits between them, and the answer."""
LARGEST = 32 * 2**20
"""Bytes of one answer; a class of ten thousand takes five million."""
ATTEMPTS = 4
"""Further attempts."""
AGAIN = (429, 502, 503, 504)
PAGES = 1000
"""Pages of one list."""
MOST = 1e6
"""Points that a system may tell; beyond, arithmetic with them says nothing."""


class PlatformError(CourseError):
    """A learning system did not do what it was asked for; with the status of its answer, 0 where none came."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class TooSlow(requests.RequestException):
    """A request took too long as a whole."""


class TooLarge(requests.RequestException):
    """An answer had too many bytes."""


class Malformed(requests.RequestException):
    """An answer is not one of HTTP's."""


def always(request: requests.PreparedRequest) -> bool:
    """Whether a request may be sent again after a lost answer: each may."""
    return True


class Limits(HTTPAdapter):
    """Sends requests with these limits; ``repeatable`` says which may be sent again after a lost answer."""

    def __init__(self, repeatable: Callable[[requests.PreparedRequest], bool] = always) -> None:
        self.lines: set[socket.socket] = set()
        """A handle of each connection, by which it is shut down."""
        self.end, self.over = 0.0, False
        super().__init__()
        self.repeatable = repeatable
        attempts = type("OurAttempts", (Attempts,), {"limits": self})
        options: dict[str, Any] = {
            "status_forcelist": AGAIN,
            "allowed_methods": None,
            "backoff_factor": 0.5,
            "raise_on_status": False,
            "retry_after_max": 10**9,
        }
        self.lenient = attempts(ATTEMPTS, connect=1, read=1, **options)
        self.strict = attempts(ATTEMPTS, connect=1, read=False, **options)

    @property
    def left(self) -> float:
        """The seconds that a request still has."""
        return self.end - time.monotonic()

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = self._pools()

    def proxy_manager_for(self, *arguments: Any, **named: Any) -> Any:
        manager = super().proxy_manager_for(*arguments, **named)
        manager.pool_classes_by_scheme = self._pools()
        return manager

    def _pools(self) -> dict[str, Any]:
        """urllib3's pools, whose connections can be shut down."""
        kinds: dict[str, tuple[type, type]] = {
            "http": (HTTPConnectionPool, HTTPConnection),
            "https": (HTTPSConnectionPool, HTTPSConnection),
        }
        ours = {"limits": self}
        return {
            scheme: type("OurPool", (pool,), {"ConnectionCls": type("OurConnection", (_Watched, connection), ours)})
            for scheme, (pool, connection) in kinds.items()
        }

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, stream: bool = False, timeout: Any = None, **options: Any
    ) -> requests.Response:
        """The whole answer. Raises RequestException for each fault of it."""
        self.end, self.over = time.monotonic() + LONGEST, False
        clock = threading.Timer(LONGEST, self._shut_down)
        clock.daemon = True
        clock.start()
        try:
            return self.sent(request, **options)
        except (requests.RequestException, HTTPError, OSError, *BROKEN) as error:
            if self.over:
                raise TooSlow from error
            if isinstance(error, requests.RequestException):
                raise
            raise Malformed(type(error).__name__) from error
        finally:
            clock.cancel()

    def sent(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """The answer to one request, while the clock runs."""
        self.max_retries = self.lenient if self.repeatable(request) else self.strict
        response = super().send(request, stream=True, timeout=SECONDS, **options)
        response._content = b"".join(self._pieces(response))
        return response

    def _pieces(self, response: requests.Response) -> Iterator[bytes]:
        """The body of an answer as it comes. Raises RequestException."""
        size = 0
        try:
            while piece := response.raw.read1(2**16, decode_content=True):
                size += len(piece)
                if size > LARGEST:
                    raise TooLarge
                yield piece
            if self.over:  # an answer without a length ends where its connection does
                raise TooSlow
            response.raw.release_conn()
        except HTTPError as error:
            response.raw.close()
            raise requests.exceptions.ChunkedEncodingError(str(error)) from error
        except requests.RequestException:
            response.raw.close()  # the rest of the answer is still on its way
            raise

    def _shut_down(self) -> None:
        self.over = True
        for line in list(self.lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        while self.lines:
            self.lines.pop().close()


BROKEN = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What programs raise that read a stranger's text."""


class Attempts(Retry):
    """Attempts that end at once where an answer asks for a longer wait than the request has."""

    limits: ClassVar[Limits]

    def increment(self, *arguments: Any, **named: Any) -> Self:
        response = named.get("response")
        try:
            wait = self.get_retry_after(response) if response is not None else 0
        except (HTTPError, *BROKEN):
            if response is not None:
                response.close()  # nobody else has it any more
            raise
        if (wait or 0) > self.limits.left:
            raise MaxRetryError(named.get("_pool"), "", None)  # type: ignore[arg-type]
        return super().increment(*arguments, **named)


class _Watched:
    """A connection of urllib3's that its adapter can shut down, also while TLS has the socket to itself."""

    limits: ClassVar[Limits]
    line: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        if self.limits.over:
            raise NewConnectionError(self, "the time limit was reached")  # type: ignore[arg-type]
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        self.line = made.dup()
        self.limits.lines.add(self.line)
        return made

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if self.line is not None:
            self.limits.lines.discard(self.line)
            self.line.close()
            self.line = None


def decoded(data: bytes) -> Any:
    """What an answer in JSON says. Raises ValueError for one that is not JSON, not in UTF-8, or too deep."""
    try:
        return msgspec.json.decode(data)
    except RecursionError as error:
        raise ValueError("too deep") from error


def are_points(number: float | None) -> bool:
    """Whether a number from a system can be points; what it does not tell is fine."""
    return number is None or -MOST <= number <= MOST  # nan is not


def trouble(address: str, error: Exception) -> PlatformError:
    """The sentence for an answer that did not come, or not whole."""
    host = host_of(address)
    if isinstance(error, TooSlow | requests.Timeout) or "timed out" in str(error):
        return PlatformError(f"{host} did not answer in time. Try again later.")
    if isinstance(error, TooLarge):
        return PlatformError(f"{host} sent more than {LARGEST // 2**20} MB as one answer, so it was not read.")
    if isinstance(error, requests.exceptions.SSLError):
        return PlatformError(f"The certificate of {host} is not valid, so nothing was sent to it.")
    if isinstance(error, Malformed | requests.exceptions.InvalidHeader) or _is_malformed(error):
        return PlatformError(f"{host} did not answer like a web server. Check the address {shown(address)}")
    if isinstance(error, requests.exceptions.ChunkedEncodingError) or "Remote end closed" in str(error):
        return PlatformError(f"{host} ended the connection before its answer was complete. Try again later.")
    if isinstance(error, requests.ConnectionError):
        return PlatformError(f"{host} cannot be reached. Check the network, and the address {shown(address)}")
    return PlatformError(f"The answer of {host} cannot be read ({type(error).__name__}).")


def _is_malformed(error: BaseException) -> bool:
    """Whether what came could not be read as an answer, and did not only end."""
    causes: list[object] = [error]
    while causes:
        cause = causes.pop()
        if isinstance(cause, HTTPException):
            return not isinstance(cause, RemoteDisconnected | IncompleteRead)
        if isinstance(cause, requests.RequestException | ProtocolError):
            causes += cause.args
        elif isinstance(cause, MaxRetryError):
            causes.append(cause.reason)
    return False


def host_of(address: str) -> str:
    return plaintext.line(_split(address)[1])


def site_of(address: str) -> tuple[str, str, int]:
    """Scheme, host and port: what is not the same is another site."""
    scheme, _, _, host, port = _split(address)
    return scheme, host, port


def _split(address: str) -> tuple[str, str, str, str, int]:
    """Scheme, place, path, host and port; nothing where it is not an address."""
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
        return parts.scheme, parts.netloc, parts.path, (parts.hostname or "").lower(), port
    except ValueError:
        return "", "", "", "", 0


def shown(address: str) -> str:
    """The address without what is behind a question mark."""
    scheme, place, path, *_ = _split(address)
    return plaintext.line(f"{scheme}://{place}{path}", 300)
