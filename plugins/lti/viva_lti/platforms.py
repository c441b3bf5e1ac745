"""The learning systems: the addresses of their services, and the values that an administrator enters there.

Each of these builds the addresses of a course's services by a rule, so that a tool which only asks needs no launch to
learn them. The rules are from Moodle's source, and from the vendors' pages on LTI.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from viva.verdict import CourseError

UNUSED = "https://localhost/not-used"
"""For fields that only launches use, and that forms ask for nevertheless."""


@dataclass(frozen=True)
class Platform:
    """A kind of learning system. In addresses {url} is the site, {course} and {deployment} are its numbers."""

    title: str
    token: str
    lineitems: str
    members: str
    steps: str
    """What to do there, before the client id is known."""
    needed: tuple[str, ...] = ("course",)
    """What the addresses depend on, beside the site."""
    audience: str = ""
    """For whom the signed request for a token is; the address for tokens where it is empty."""
    key: str = "jwks"
    """The form of the public key that is entered there: pem, jwk, or jwks, a file at an address."""

    def addresses(self, url: str, course: str, deployment: str) -> dict[str, str]:
        """Where tokens, columns and members are. Raises CourseError for a number that is missing."""
        values = {"course": quote(course, safe=""), "deployment": quote(deployment, safe="")}
        if missing := [f"--{OPTIONS[name]}" for name in self.needed if not values[name]]:
            raise CourseError(f"{self.title} needs {' and '.join(missing)} too. See docs/lti.md.")
        kinds = {"token": self.token, "lineitems": self.lineitems, "members": self.members, "audience": self.audience}
        return {name: address.format(url=url, **values) for name, address in kinds.items()}


OPTIONS = {"course": "platform-course", "deployment": "deployment"}

PLATFORMS = {
    "moodle": Platform(
        "Moodle",
        "{url}/mod/lti/token.php",
        "{url}/mod/lti/services.php/{course}/lineitems?type_id={deployment}",
        "{url}/mod/lti/services.php/CourseSection/{course}/bindings/{deployment}/memberships",
        f"""
Site administration, Plugins, Activity modules, External tool, Manage tools: configure a tool manually.
  Tool URL, Initiate login URL, Redirection URI(s): {UNUSED}
  LTI version: LTI 1.3        Public key type: RSA key        Public key: the key below
  Tool configuration usage: Show in activity chooser and as a preconfigured tool
  IMS LTI Assignment and Grade Services: Use this service for grade sync and column management
  IMS LTI Names and Role Provisioning: Use this service to retrieve members' information
  Privacy: share the launcher's name and e-mail address: Always
Then open the tool's details there. Moodle shows the client id and the deployment id. The course's number is in the
address of its page: course/view.php?id=12.""",
        needed=("course", "deployment"),
        key="pem",
    ),
    "canvas": Platform(
        "Canvas",
        "{url}/login/oauth2/token",
        "{url}/api/lti/courses/{course}/line_items",
        "{url}/api/lti/courses/{course}/names_and_roles",
        f"""
Admin, Developer Keys, + LTI Key.
  Redirect URIs, Target Link URI, OpenID Connect Initiation URL: {UNUSED}
  JWK Method: Public JWK        Public JWK: the key below
  LTI Advantage Services: create and view assignment data; view submission data; create and update submission
  results; retrieve user data
  Additional Settings, Privacy Level: Public        Placements: none
Turn the key on. Its number under Details is the client id. Then install the tool in the course or the account:
Settings, Apps, + App, By Client ID. The course's number is in its address: courses/12.""",
        key="jwk",
    ),
    "brightspace": Platform(
        "Brightspace",
        "https://auth.brightspace.com/core/connect/token",
        "{url}/d2l/api/lti/ags/2.0/deployment/{deployment}/orgunit/{course}/lineitems",
        "{url}/d2l/api/lti/nrps/2.0/deployment/{deployment}/orgunit/{course}/memberships",
        f"""
Admin Tools, Manage Extensibility, LTI Advantage, Register Tool, Standard.
  Redirect URLs, OpenID Connect Login URL: {UNUSED}        Keyset URL: the public address of the file below
  Extensions: Assignment and Grade Services; Names and Role Provisioning Services
Then External Learning Tools, New Deployment, with the same extensions; security settings: name, e-mail address, Org
Defined Id, and the class list including users not known to this deployment. Brightspace shows the client id and the
deployment id. The course's number is in its address: d2l/home/6836.""",
        needed=("course", "deployment"),
        audience="https://api.brightspace.com/auth/token",
    ),
    "blackboard": Platform(
        "Blackboard",
        "https://developer.blackboard.com/api/v1/gateway/oauth2/jwttoken",
        "{url}/learn/api/v1/lti/courses/{course}/lineItems",
        "{url}/learn/api/v1/lti/external/namesandroles/{course}",
        f"""
Register an application with LTI 1.3 at developer.blackboard.com.
  Login Initiation URL, Tool Redirect URL(s): {UNUSED}        Tool JWKS URL: the public address of the file below
It shows the client id (Application ID). Then an administrator of Learn: LTI Tool Providers, Register LTI 1.3 Tool,
with this client id; user fields to send: role, name, e-mail address; allow grade service access, and membership
service access. The course's number looks like _4_1 and is in its address.""",
    ),
    "other": Platform(
        "the learning system", "", "", "", "\nRegister a tool with LTI 1.3 and the key below.", needed=()
    ),
}
"""By what ``viva lti register`` calls them."""
