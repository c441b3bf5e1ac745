"""The registration of a course in a learning system: ``lti.json`` in the course folder. It holds no secret."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.verdict import CourseError

NAME = "lti.json"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SERVICES = ("token", "lineitems", "members")


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool in a learning system, for one course."""

    platform: str
    url: str
    """The learning system's site."""
    client_id: str = ""
    token: str = ""
    lineitems: str = ""
    members: str = ""
    audience: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def issuer(self) -> str:
        """Whose the numbers of its members are."""
        return f"lti:{self.host}"

    def require_complete(self) -> Registration:
        """Raises CourseError where ``viva lti register`` was not finished."""
        if not self.client_id or not self.token:
            raise CourseError(
                "The registration is not complete: the client id is missing. Run: viva lti register --client-id=ID"
            )
        return self


def read(root: Path) -> Registration:
    """The course's registration. Raises CourseError where there is none, or it cannot be read."""
    path = root / NAME
    if not path.exists():
        raise CourseError(
            "The course is not registered with a learning system. Begin with: viva lti register moodle "
            "https://lms.example.edu"
        )
    try:
        registration = msgspec.json.decode(path.read_bytes(), type=Registration)
    except msgspec.DecodeError as error:
        raise CourseError(f"{path} is damaged: {error}. Restore it, or run 'viva lti register' again.") from error
    for name in ("url", *SERVICES):
        if address := getattr(registration, name):
            require_address(address)
    return registration


def write(root: Path, registration: Registration) -> None:
    leftovers.write(root / NAME, msgspec.json.format(msgspec.json.encode(registration), indent=1).decode() + "\n")


def require_address(address: str) -> str:
    """An address to which a token may be sent. Raises CourseError for another."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise CourseError(f"{plaintext.quoted(address)} is not an address such as https://lms.example.edu")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise CourseError(
            f"{plaintext.quoted(address)} begins with http:, so others on the network could read what is sent. It "
            "must begin with https:. If the learning system gave this address, its administrator must correct it there."
        )
    return address
