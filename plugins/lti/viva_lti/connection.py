"""Requests to a learning system with a token, with limits on time, size and attempts.

Each problem becomes one sentence, which holds no token, no key, and nothing of an answer but the standard's own words
for errors. urllib3 waits and tries again: for an answer that says 429, 502, 503 or 504, as long as it asks for, and for
what may be sent twice also after a lost answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, Self, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, MaxRetryError
from urllib3.util import Retry

import viva
from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_lti.key import Key
from viva_lti.registration import Registration, require_address

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
COLUMN = "application/vnd.ims.lis.v2.lineitem+json"
"""The form of a column, in the standard's words a line item."""
CODES = re.compile(r"[a-z_]{1,40}")
"""What the error codes of OAuth look like."""
Form = TypeVar("Form")


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


class Limits(HTTPAdapter):
    """Sends requests with these limits."""

    def __init__(self) -> None:
        super().__init__()
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
        # Of what makes a column, a second one would stay; a score that comes twice is the same score.
        column = request.method == "POST" and request.headers.get("Content-Type") == COLUMN
        self.max_retries = self.strict if column else self.lenient
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


class Connection:
    """A learning system's services, with a token for some ``scopes``."""

    def __init__(self, registration: Registration, key: Key, *scopes: str) -> None:
        self.registration = registration.require_complete()
        self.session = OAuth2Session(
            registration.client_id,
            key.rsa,
            token_endpoint_auth_method="private_key_jwt",
            token_endpoint=registration.token,
            grant_type="client_credentials",
            scope=" ".join(scopes),
            allow_redirects=False,
        )
        audience = registration.audience or registration.token
        self.session.register_client_auth_method(PrivateKeyJWT(audience, headers={"kid": key.number}))
        self.session.headers["User-Agent"] = f"viva/{viva.__version__}"
        for start in ("https://", "http://"):
            self.session.mount(start, Limits())

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self.session.close()

    def pages(self, subject: str, address: str, accept: str, **parameters: str) -> Iterator[Any]:
        """What each page of a list holds. Raises PlatformError."""
        seen: set[str] = set()
        while address:
            if address in seen or len(seen) >= PAGES:
                raise PlatformError(
                    f"{self._host(address)} never ends its list of {subject}: page {len(seen)} leads back."
                )
            seen.add(address)
            response = self._request("GET", subject, address, headers={"Accept": accept}, params=parameters)
            yield self._json(subject, response)
            parameters = {}
            following = response.links.get("next", {}).get("url", "")
            address = urljoin(response.url, following) if following else ""

    def send(self, subject: str, address: str, body: object, form: str) -> Any:
        """Send something new; the answer, None where it is empty. Raises PlatformError."""
        headers = {"Content-Type": form, "Accept": form}
        response = self._request("POST", subject, address, headers=headers, data=msgspec.json.encode(body))
        return self._json(subject, response) if response.content.strip() else None

    def formed(self, subject: str, value: object, form: type[Form]) -> Form:
        """An answer, which has to have the form of the standard. Raises PlatformError."""
        try:
            return msgspec.convert(value, form, strict=False)
        except msgspec.ValidationError as error:
            raise PlatformError(
                f"The answer of {self.registration.host} about {subject} does not have the form of the standard: "
                f"{plaintext.line(str(error), 200)}."
            ) from error

    def _json(self, subject: str, response: requests.Response) -> Any:
        try:
            return msgspec.json.decode(response.content)
        except msgspec.DecodeError as error:
            raise PlatformError(
                f"The answer of {self._host(response.url)} about {subject} is not JSON. If the address opens a login "
                f"page in a browser, it is wrong: {_shown(response.url)}"
            ) from error

    def _request(self, method: str, subject: str, address: str, **options: Any) -> requests.Response:
        """Raises PlatformError for everything but an answer that grants the request."""
        require_address(address)
        if not self.session.token:
            self._authorize()
        response = self._sent(method, address, **options)
        if response.status_code == 401:  # the token may have been withdrawn
            self._authorize()
            response = self._sent(method, address, **options)
        if response.ok and not response.is_redirect:
            return response
        raise PlatformError(self._sentence(subject, response), response.status_code)

    def _sent(self, method: str, address: str, **options: Any) -> requests.Response:
        """The answer to one request. Raises PlatformError where none came."""
        try:
            return self.session.request(method, address, allow_redirects=False, **options)
        except AuthlibBaseError as error:  # the token had to be renewed
            problem = self._refusal(error)
        except (requests.RequestException, ValueError, KeyError) as error:
            problem = self._trouble(address, error)
        raise problem

    def _authorize(self) -> None:
        """Get a token. Raises PlatformError; other errors may hold the signed request, so none is chained."""
        address = self.registration.token
        require_address(address)
        try:
            token = self.session.fetch_token(address, allow_redirects=False)
            if isinstance(token.get("access_token"), str) and str(token.get("token_type")).lower() == "bearer":
                return
            problem = PlatformError(f"{self._host(address)} did not give a token: its answer has no bearer token.")
        except AuthlibBaseError as error:
            problem = self._refusal(error)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            problem = PlatformError(
                f"{self._host(address)} gave no token, with status {status}. {_advice(status)}", status
            )
        except requests.RequestException as error:
            problem = self._trouble(address, error)
        except (ValueError, KeyError, TypeError, AttributeError):
            problem = PlatformError(
                f"{self._host(address)} did not give a token: its answer is not JSON. The address of tokens may be "
                f"wrong: {_shown(address)}"
            )
        raise problem

    def _refusal(self, error: AuthlibBaseError) -> PlatformError:
        code = error.error if CODES.fullmatch(str(error.error)) else "an error of its own"
        advice = {
            "invalid_scope": "Turn on the services for names and roles and for grades in the tool's settings there.",
            "invalid_client": "The client id, or the public key that was entered there, is not this course's: compare "
            f"it with what 'viva lti register {self.registration.platform} {self.registration.url}' prints.",
        }
        advice["unauthorized_client"] = advice["invalid_grant"] = advice["invalid_request"] = advice["invalid_client"]
        return PlatformError(
            f"{self._host(self.registration.token)} refuses this course ({code}). "
            + advice.get(code, advice["invalid_client"]),
            401,
        )

    def _trouble(self, address: str, error: Exception) -> PlatformError:
        """The sentence for an answer that did not come, or not whole."""
        host = self._host(address)
        if isinstance(error, TooSlow | requests.Timeout) or "timed out" in str(error):
            return PlatformError(f"{host} did not answer in time. Try again later.")
        if isinstance(error, TooLarge):
            return PlatformError(f"{host} sent more than {LARGEST // 2**20} MB as one answer, so it was not read.")
        if isinstance(error, requests.exceptions.SSLError):
            return PlatformError(f"The certificate of {host} is not valid, so nothing was sent to it.")
        if isinstance(error, requests.exceptions.ChunkedEncodingError) or "Remote end closed" in str(error):
            return PlatformError(f"{host} ended the connection before its answer was whole. Try again later.")
        if isinstance(error, requests.ConnectionError):
            return PlatformError(f"{host} cannot be reached. Check the network, and the address {_shown(address)}")
        return PlatformError(f"The answer of {host} cannot be read ({type(error).__name__}).")

    def _sentence(self, subject: str, response: requests.Response) -> str:
        status, host = response.status_code, self._host(response.url)
        if response.is_redirect:
            return (
                f"{host} sends requests about {subject} to another address. Register its final address, which a "
                "browser shows after it is opened."
            )
        if status == 404:
            return (
                f"{host} has nothing about {subject} at {_shown(response.url)}: check the numbers of course and tool."
            )
        return f"{host} refused the request about {subject}, with status {status}. {_advice(status)}"

    @staticmethod
    def _host(address: str) -> str:
        return plaintext.line(urlsplit(address).netloc)


def _advice(status: int) -> str:
    if status == 429:
        return "It has too many requests. Run the same command again later."
    if status in (401, 403):
        return "Turn on this service for the tool, in its settings there and in this course."
    if status >= 500:
        return "It has a problem of its own. Try again later."
    return "The numbers of course and tool may be wrong, or this service is turned off."


def _shown(address: str) -> str:
    """The address without what is behind a question mark."""
    parts = urlsplit(address)
    return plaintext.line(f"{parts.scheme}://{parts.netloc}{parts.path}", 300)
