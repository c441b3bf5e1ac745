"""The members of the course in the learning system (Names and Role Provisioning Services 2.0)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.course.table import Table
from viva.verdict import CourseError
from viva_lti import key, registration
from viva_lti.connection import Connection
from viva_lti.settings import Lti

SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
FORM = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
LEARNER, TEST = "Learner", "TestUser"
COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id", "sis")
USERNAMES = ("email", "sub", "given_name", "family_name", "name", "lis_person_sourcedid")
"""Claims that ltiauthenticator's ``username_key`` can name and that a list of members has."""


class Listed(msgspec.Struct, frozen=True):
    """One member as the system lists them."""

    user_id: str | int
    roles: list[str] = []
    status: str = "Active"
    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    email: str | None = None
    lis_person_sourcedid: str | int | None = None


class Page(msgspec.Struct, frozen=True):
    members: list[Listed]


@dataclass(frozen=True)
class Member:
    """A student in the learning system; what it does not tell is empty."""

    user_id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    sis: str = ""
    """The school's number."""
    login: str = ""
    section: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    def username(self, claim: str) -> str:
        """What ltiauthenticator and JupyterHub call them; like these, the number of the system without the claim."""
        claims = {
            "email": self.email,
            "given_name": self.first_name,
            "family_name": self.last_name,
            "name": self.name,
            "lis_person_sourcedid": self.sis,
            "login": self.login,
        }
        return (claims.get(claim) or self.user_id).lower()


def read(connection: Connection) -> list[Member]:
    """The active students. Raises PlatformError, and CourseError where there are none."""
    address = connection.registration.members
    if not address:
        raise CourseError(
            "The address of names and roles is not registered. Run 'viva lti register' with --members=URL."
        )
    listed: dict[str, Listed] = {}
    for answer in connection.pages("members", address, FORM):
        page = connection.formed("members", answer, Page)
        listed |= {str(member.user_id): member for member in page.members}
    students = [_member(member) for member in listed.values() if _is_student(member)]
    if not students:
        raise CourseError(
            f"{connection.registration.host} lists {len(listed)} members of the course, and none of them is an active "
            "student. Check the number of the course."
        )
    return students


def _is_student(member: Listed) -> bool:
    # A role is a name of the standard's, with or without its address before it: .../membership#Learner, or Learner.
    # One within another is .../membership/Learner#GuestLearner.
    ends = {part for role in member.roles for part in role.replace("#", "/").split("/")[-2:]}
    return member.status == "Active" and LEARNER in ends and TEST not in ends


def _member(listed: Listed) -> Member:
    cells = (listed.given_name, listed.family_name, listed.name, listed.email, listed.lis_person_sourcedid)
    first, last, name, email, sis = (str(cell if cell is not None else "").strip() for cell in cells)
    if not (first or last):
        first, last = parted(name)
    return Member(str(listed.user_id), first.strip(), last, email, sis)


def parted(name: str) -> tuple[str, str]:
    """First and last name."""
    first, _, last = name.rpartition(" ")
    return first.strip(), last


def roster(command: VivaCommand) -> Table:
    """The list for ``viva roster --from=lti``: a line for each student. Raises CourseError."""
    settings, root = Lti(parent=command), Path(command.course.root)
    if settings.username_key not in USERNAMES:
        raise CourseError(
            f"c.Lti.username_key is {plaintext.quoted(settings.username_key)}, but no list of members has this "
            f"field. Use one of: {', '.join(USERNAMES)}."
        )
    lms = registration.read(root).require_complete()
    pair = key.read(key.path_of(lms.url, settings.folder, root))
    with Connection(lms, pair, SCOPE) as connection:
        students = read(connection)
    rows = [
        [who.username(settings.username_key), who.first_name, who.last_name, who.email, who.user_id, who.sis]
        for who in students
    ]
    silent = [student for student in students if not (student.name or student.email)]
    notes = [
        f"{lms.host} did not send the names and addresses of {len(silent)} students. Allow this in the privacy "
        "settings of the tool there."
    ] * bool(silent)
    return Table(COLUMNS, dict(enumerate(rows, 2)), notes, lms.issuer)
