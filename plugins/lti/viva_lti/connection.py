"""Requests to a learning system with a token that it gives for a signed request.

Each problem becomes one sentence, which holds no token, no key, and nothing of an answer but the standard's own words
for errors.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urljoin

import msgspec
import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT

import viva
from viva.cleaning import plaintext
from viva.wording import counted
from viva_lti.key import Key
from viva_lti.registration import Registration, require_address
from viva_lti.transport import BROKEN, PAGES, Limits, PlatformError, decoded, host_of, shown, site_of, trouble

COLUMN = "application/vnd.ims.lis.v2.lineitem+json"
"""The form of a column, in the standard's words a line item."""
CODES = re.compile(r"[a-z_]{1,40}")
"""What the error codes of OAuth look like."""
FAR = timedelta(seconds=50)
"""By so much two clocks may differ; a token is asked for with a request that is valid for an hour from now."""
Form = TypeVar("Form")


def repeatable(request: requests.PreparedRequest) -> bool:
    """Of what makes a column, a second one would stay; a score that comes twice is the same score."""
    return request.method != "POST" or request.headers.get("Content-Type") != COLUMN


class Connection:
    """A learning system's services, with a token for some ``scopes``.

    The token, ids, points and comments go to the sites alone that were registered: what an answer points to elsewhere
    gets nothing.
    """

    def __init__(self, registration: Registration, key: Key, *scopes: str) -> None:
        self.registration = registration.require_complete()
        services = registration.url, registration.lineitems, registration.members
        self.sites = {site_of(address) for address in services if address}
        self.ahead = timedelta()
        """How much the clock of this machine is ahead of the one that gives tokens, as far as that told its time."""
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
        self.session.register_compliance_hook("access_token_response", self._looked_at)
        self.session.headers["User-Agent"] = f"viva/{viva.__version__}"
        for start in ("https://", "http://"):
            self.session.mount(start, Limits(repeatable))

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
                    f"The list of {subject} of {host_of(address)} does not end: page {len(seen)} leads back to an "
                    "earlier page."
                )
            seen.add(address)
            response = self._request("GET", subject, address, headers={"Accept": accept}, params=parameters)
            yield self._json(subject, response)
            parameters = {}
            address = self._following(subject, response)

    def _following(self, subject: str, response: requests.Response) -> str:
        """The address of the next page; empty behind the last one. Raises PlatformError."""
        try:
            following = response.links.get("next", {}).get("url", "")
            return urljoin(response.url, following) if following else ""
        except BROKEN:
            problem = (
                f"The answer of {host_of(response.url)} about {subject} has a link to a next page that is not valid."
            )
        raise PlatformError(problem)

    def read(self, subject: str, address: str, accept: str) -> Any:
        """What is at an address. Raises PlatformError."""
        return self._json(subject, self._request("GET", subject, address, headers={"Accept": accept}))

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
            return decoded(response.content)
        except ValueError as error:
            raise PlatformError(
                f"The answer of {host_of(response.url)} about {subject} is not JSON. Open this address in a browser. "
                f"If you see a login page, the address is wrong: {shown(response.url)}"
            ) from error

    def _request(self, method: str, subject: str, address: str, **options: Any) -> requests.Response:
        """Raises PlatformError for everything but an answer that grants the request."""
        self.require_own(subject, address)
        if not self.session.token:
            self._authorize()
        response = self._sent(method, address, **options)
        if response.status_code == 401:  # the token may have been withdrawn
            self._authorize()
            response = self._sent(method, address, **options)
        if response.ok and not response.is_redirect:
            return response
        raise PlatformError(self._sentence(subject, response), response.status_code)

    def require_own(self, subject: str, address: str) -> None:
        """Raises CourseError for an address to which nothing may be sent."""
        require_address(address)
        if site_of(address) not in self.sites:
            raise PlatformError(
                f"{self.registration.host} points to another site for {subject}: {host_of(address)}. Nothing was "
                "sent there. If that site belongs to the learning system, register its address with --lineitems=URL "
                "or --members=URL."
            )

    def _sent(self, method: str, address: str, **options: Any) -> requests.Response:
        """The answer to one request. Raises PlatformError where none came."""
        try:
            return self.session.request(method, address, allow_redirects=False, **options)
        except AuthlibBaseError as error:  # the token had to be renewed
            problem = self._refusal(error)
        except (requests.RequestException, *BROKEN) as error:
            problem = trouble(address, error)
        raise problem

    def _looked_at(self, response: requests.Response) -> requests.Response:
        """The answer to a request for a token, before authlib reads it. Raises ValueError."""
        with contextlib.suppress(*BROKEN):
            self.ahead = datetime.now(UTC) - parsedate_to_datetime(response.headers["Date"])
        if response.status_code < 500 and not isinstance(decoded(response.content), dict):
            raise ValueError
        return response

    def _authorize(self) -> None:
        """Get a token. Raises PlatformError; other errors may hold the signed request, so none is chained."""
        address = self.registration.token
        require_address(address)
        try:
            token = self.session.fetch_token(address, allow_redirects=False)
            if isinstance(token.get("access_token"), str) and str(token.get("token_type")).lower() == "bearer":
                return
            problem = PlatformError(f"{host_of(address)} did not give a token: its answer has no bearer token.")
        except AuthlibBaseError as error:
            problem = self._refusal(error)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            problem = PlatformError(
                f"{host_of(address)} gave no token, with status {status}. {_advice(status)}", status
            )
        except requests.RequestException as error:
            problem = trouble(address, error)
        except BROKEN:
            problem = PlatformError(
                f"{host_of(address)} did not give a token: its answer is not JSON. The address of tokens may be "
                f"wrong: {shown(address)}"
            )
        raise problem

    def _refusal(self, error: AuthlibBaseError) -> PlatformError:
        if abs(self.ahead) > FAR:
            minutes, which = round(abs(self.ahead) / timedelta(minutes=1)), "ahead of" if self.ahead > FAR else "behind"
            return PlatformError(
                f"{host_of(self.registration.token)} refuses this course. The clock of this machine is "
                f"{counted(minutes, 'minute')} {which} its clock, and it accepts only requests with the right time. "
                "Set the clock, then run the same command again.",
                401,
            )
        code = error.error if CODES.fullmatch(str(error.error)) else "an unknown error"
        advice = {
            "invalid_scope": "There, in the settings of the tool, turn on two services: names and roles, and grades.",
            "invalid_client": "The client id or the public key there is not that of this course. Compare them with "
            f"what this command prints: viva lti register {self.registration.platform} {self.registration.url}",
        }
        advice["unauthorized_client"] = advice["invalid_grant"] = advice["invalid_request"] = advice["invalid_client"]
        return PlatformError(
            f"{host_of(self.registration.token)} refuses this course ({code}). "
            + advice.get(code, advice["invalid_client"]),
            401,
        )

    def _sentence(self, subject: str, response: requests.Response) -> str:
        status, host = response.status_code, host_of(response.url)
        if response.is_redirect:
            return (
                f"{host} sends requests about {subject} to another address. Open the course in a browser, and "
                "register the address that the browser then shows."
            )
        if status == 404:
            return f"{host} has nothing about {subject} at {shown(response.url)}. Check its number of the course."
        return f"{host} refused the request about {subject}, with status {status}. {_advice(status)}"


def _advice(status: int) -> str:
    if status == 429:
        return "It has too many requests. Run the same command again later."
    if status in (401, 403):
        return "Turn on this service in the settings of the tool there, and in this course."
    if status >= 500:
        return "Its server has an error. Try again later."
    return "The number of the course or of the tool may be wrong, or this service is turned off."
