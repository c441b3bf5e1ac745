"""The command that talks with a learning system over LTI 1.3: lti."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Unicode

from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import key, members, registration
from viva_lti.connection import Connection
from viva_lti.exporting import ScoresCommand
from viva_lti.grades import SCOPES, LineItems
from viva_lti.key import Key
from viva_lti.members import Member
from viva_lti.platforms import OPTIONS, PLATFORMS
from viva_lti.registration import NAME, Registration
from viva_lti.settings import Lti

ACTIONS = ("register", "export")


class LtiCommand(ScoresCommand):
    name = "viva-lti"
    arguments = "register PLATFORM URL | export [ASSIGNMENT ...]"
    completes = ""
    heading = "Class"
    description = "Register the course with a learning system (LTI 1.3), and send scores into its gradebook."
    examples = """
        viva lti register moodle https://lms.example.edu     make a key; what to enter in Moodle
        viva lti register --client-id=aBc9 --deployment=3 --platform-course=12
        viva lti export ps1 --dry-run                        what would be sent; without --dry-run, send it
    """
    aliases = nbgrader_aliases | {
        "client-id": "LtiCommand.client_id",
        "platform-course": "LtiCommand.platform_course",
        "deployment": "LtiCommand.deployment",
        "token": "LtiCommand.token",
        "lineitems": "LtiCommand.lineitems",
        "members": "LtiCommand.members",
        "audience": "LtiCommand.audience",
        "keys": "Lti.keys",
    }
    client_id = Unicode(help="The client id that the learning system shows for the tool.").tag(config=True)
    platform_course = Unicode(help="The number of the course in the learning system.").tag(config=True)
    deployment = Unicode(help="The deployment id that the learning system shows for the tool.").tag(config=True)
    token = Unicode(help="The address that issues tokens, if it is not the usual one.").tag(config=True)
    lineitems = Unicode(help="The address of the course's columns (line items).").tag(config=True)
    members = Unicode(help="The address of the course's names and roles (memberships).").tag(config=True)
    audience = Unicode(help="The audience of token requests, if it is not the address for tokens.").tag(config=True)
    settings = (Lti,)

    def run(self) -> int:
        action, *rest = self.extra_args or [""]
        if action not in ACTIONS:
            raise CourseError(
                "This command needs an action: 'viva lti register' registers the course, 'viva lti export' sends "
                "scores, and "
                "'viva roster --from=lti' reads the roster."
            )
        if not self.course.path("source", ".").is_dir():
            self.course.assignments()  # says that this is not a course
        self.lti = Lti(parent=self)
        return self._register(rest) if action == "register" else self._export(rest)

    def _key(self, lms: Registration, make: bool = False) -> Key:
        path = key.path_of(lms.url, self.lti.folder, self.course.root)
        return key.made(path) if make else key.read(path)

    # Registering: the first run makes the key and says what to enter, the second has the numbers and tries them.

    def _register(self, words: list[str]) -> int:
        lms, root = self._place(words), Path(self.course.root)
        for address in filter(None, (lms.url, lms.token, lms.lineitems, lms.members)):
            registration.require_address(address)
        pair = self._key(lms, make=not self.dry_run)
        if not self.dry_run:
            with self.alone():
                registration.write(root, lms)
        document = {"platform": lms.platform, "url": lms.url, "key": str(pair.path), "dry_run": self.dry_run}
        if lms.client_id and (self.client_id or not words):
            self._try_services(lms, pair)
            self._say(f"Registered with {lms.host}: {root / NAME}. Now run: viva roster --from=lti --dry-run")
        else:
            self._say(*self._to_enter(lms, pair))
        self.show_document(**document, jwks=pair.public("jwks"), registered=bool(lms.client_id))
        return 0

    def _place(self, words: list[str]) -> Registration:
        """The registration as far as it is known. Raises CourseError."""
        if words and (len(words) != 2 or words[0] not in PLATFORMS):
            raise CourseError(
                "Name a learning system and its address, as in: viva lti register moodle https://lms.example.edu. The "
                f"systems are: {', '.join(PLATFORMS)}."
            )
        root = Path(self.course.root)
        lms = registration.read(root) if not words or (root / NAME).exists() else Registration("", "")
        if words and (lms.platform, lms.url) != (words[0], words[1].rstrip("/")):
            lms = Registration(words[0], words[1].rstrip("/"))
        platform = PLATFORMS.get(lms.platform, PLATFORMS["other"])
        addresses = {name: getattr(lms, name) for name in ("token", "lineitems", "members", "audience")}
        client_id = self.client_id or lms.client_id
        if client_id and (self.platform_course or self.deployment or not lms.token):
            addresses |= platform.addresses(lms.url, self.platform_course, self.deployment)
        addresses |= {name: getattr(self, name) for name in addresses if getattr(self, name)}
        if client_id and not addresses["token"]:
            raise CourseError(
                f"{platform.title[:1].upper()}{platform.title[1:]} needs --token=URL too. See docs/lti.md."
            )
        return Registration(lms.platform, lms.url, client_id=client_id, **addresses)

    def _to_enter(self, lms: Registration, pair: Key) -> list[str]:
        platform = PLATFORMS.get(lms.platform, PLATFORMS["other"])
        numbers = "".join(f" --{OPTIONS[name]}=ID" for name in reversed(platform.needed))
        if lms.platform == "other":
            numbers = " --token=URL --lineitems=URL --members=URL"
        headings = {"jwks": "The file for the public address, for example next to the course's web page"}
        return [
            f"In {platform.title} ({lms.host}), as an administrator:{platform.steps}",
            f"\n{headings.get(platform.key, 'The public key')}:\n{pair.public(platform.key)}",
            f"\nThe private key is {pair.path}. Keep it secret; it is not part of the course folder.",
            f"Then run: viva lti register --client-id=ID{numbers}",
        ]

    def _try_services(self, lms: Registration, pair: Key) -> None:
        """Say whether each service answers. Raises PlatformError for the first that does not."""
        if lms.members:
            with self.console.status("reading the members"), Connection(lms, pair, members.SCOPE) as connection:
                self._say(f"Names and roles: {counted(len(members.read(connection)), 'student')}.")
        if lms.lineitems:
            with self.console.status("reading the columns"), Connection(lms, pair, *SCOPES) as connection:
                LineItems(connection).column("")
                self._say("Assignments and grades: the service answers.")

    # Sending scores.

    def _export(self, names: list[str]) -> int:
        lms = registration.read(Path(self.course.root)).require_complete()
        pair = self._key(lms)

        def people() -> list[Member]:
            with Connection(lms, pair, members.SCOPE) as connection:
                return members.read(connection)

        @contextmanager
        def opened() -> Iterator[LineItems]:
            with Connection(lms, pair, *SCOPES) as connection:
                yield LineItems(connection, self.overwrite)

        return self.export(names, self.lti, lms.issuer, people, opened)
