"""How requests travel: limits on time, size and attempts, and the sentence for an answer that did not come.

urllib3 waits and tries again: for an answer that says 429, 502, 503 or 504, as long as it asks for, and for what may be
sent twice also after a lost answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Self
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, MaxRetryError
from urllib3.util import Retry

from viva.cleaning import plaintext
from viva.verdict import CourseError

SECONDS = 30.0
"""To connect, and between two pieces of an answer."""
LONGEST = 120.0
"""Seconds for one whole answer, and the longest wait that an answer may ask for."""
LARGEST = 32 * 2**20
"""Bytes of one answer; a class of ten thousand takes five million."""
ATTEMPTS = 4
"""Further attempts."""
AGAIN = (429, 502, 503, 504)
PAGES = 1000
"""Pages of one list."""


class PlatformError(CourseError):
    """A learning system did not do what it was asked for; with the status of its answer, 0 where none came."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class TooSlow(requests.RequestException):
    """An answer took too long as a whole."""


class TooLarge(requests.RequestException):
    """An answer had too many bytes."""


class Attempts(Retry):
    """Attempts that end at once where an answer asks for a longer wait than anybody sits through."""

    def increment(self, *arguments: Any, **named: Any) -> Self:
        response = named.get("response")
        if response is not None and (self.get_retry_after(response) or 0) > LONGEST:
            raise MaxRetryError(named.get("_pool"), "", None)  # type: ignore[arg-type]
        return super().increment(*arguments, **named)


def always(request: requests.PreparedRequest) -> bool:
    """Whether a request may be sent again after a lost answer: each may."""
    return True


class Limits(HTTPAdapter):
    """Sends requests with these limits; ``repeatable`` says which may be sent again after a lost answer."""

    def __init__(self, repeatable: Callable[[requests.PreparedRequest], bool] = always) -> None:
        super().__init__()
        self.repeatable = repeatable
        options: dict[str, Any] = {
            "status_forcelist": AGAIN,
            "allowed_methods": None,
            "backoff_factor": 0.5,
            "raise_on_status": False,
            "retry_after_max": 10**9,
        }
        self.lenient = Attempts(ATTEMPTS, connect=1, read=1, **options)
        self.strict = Attempts(ATTEMPTS, connect=1, read=False, **options)

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, stream: bool = False, timeout: Any = None, **options: Any
    ) -> requests.Response:
        self.max_retries = self.lenient if self.repeatable(request) else self.strict
        response = super().send(request, stream=True, timeout=SECONDS, **options)
        response._content = b"".join(_pieces(response))
        return response


def _pieces(response: requests.Response) -> Iterator[bytes]:
    """The body of an answer as it comes. Raises RequestException."""
    end, size = time.monotonic() + LONGEST, 0
    try:
        while piece := response.raw.read1(2**16, decode_content=True):
            size += len(piece)
            if size > LARGEST:
                raise TooLarge
            if time.monotonic() > end:
                raise TooSlow
            yield piece
        response.raw.release_conn()
    except HTTPError as error:
        response.raw.close()
        raise requests.exceptions.ChunkedEncodingError(str(error)) from error
    except requests.RequestException:
        response.raw.close()  # the rest of the answer is still on its way
        raise


def trouble(address: str, error: Exception) -> PlatformError:
    """The sentence for an answer that did not come, or not whole."""
    host = host_of(address)
    if isinstance(error, TooSlow | requests.Timeout) or "timed out" in str(error):
        return PlatformError(f"{host} did not answer in time. Try again later.")
    if isinstance(error, TooLarge):
        return PlatformError(f"{host} sent more than {LARGEST // 2**20} MB as one answer, so it was not read.")
    if isinstance(error, requests.exceptions.SSLError):
        return PlatformError(f"The certificate of {host} is not valid, so nothing was sent to it.")
    if isinstance(error, requests.exceptions.ChunkedEncodingError) or "Remote end closed" in str(error):
        return PlatformError(f"{host} ended the connection before its answer was whole. Try again later.")
    if isinstance(error, requests.ConnectionError):
        return PlatformError(f"{host} cannot be reached. Check the network, and the address {shown(address)}")
    return PlatformError(f"The answer of {host} cannot be read ({type(error).__name__}).")


def host_of(address: str) -> str:
    return plaintext.line(urlsplit(address).netloc)


def shown(address: str) -> str:
    """The address without what is behind a question mark."""
    parts = urlsplit(address)
    return plaintext.line(f"{parts.scheme}://{parts.netloc}{parts.path}", 300)
