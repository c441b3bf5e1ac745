"""The command that talks with a learning system over LTI 1.3: lti."""

from __future__ import annotations

from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Bool, Unicode

from viva.cleaning import plaintext
from viva.commands import plantable
from viva.commands.command import VivaCommand
from viva.course.gradebook import agreement, health
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import key, members, registration, scoreplan
from viva_lti.connection import Connection, PlatformError
from viva_lti.grades import SCOPES, Column, Grades
from viva_lti.key import Key
from viva_lti.members import Member
from viva_lti.platforms import OPTIONS, PLATFORMS
from viva_lti.registration import NAME, Registration
from viva_lti.scoreplan import ScorePlan, Wishes
from viva_lti.sent import Sent
from viva_lti.settings import Lti

ACTIONS = ("register", "export")
ONE = {
    400: "it does not grade this member",
    404: "it does not know this member, or the column was deleted",
    409: "it has a grade that is as new; run the same command again to see it",
    422: "it does not grade this member",
}
"""By the status with which a system refuses one score, what it means."""


class LtiCommand(VivaCommand):
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
    flags = VivaCommand.flags | {
        "dry-run": ({"LtiCommand": {"dry_run": True}}, "Only show what would be sent; send and write nothing."),
        "overwrite": (
            {"LtiCommand": {"overwrite": True}},
            "Also replace grades that somebody entered or removed in the learning system.",
        ),
        "raw": ({"LtiCommand": {"raw": True}}, "Send scores without late penalties."),
    }
    client_id = Unicode(help="The client id that the learning system shows for the tool.").tag(config=True)
    platform_course = Unicode(help="The number of the course in the learning system.").tag(config=True)
    deployment = Unicode(help="The deployment id that the learning system shows for the tool.").tag(config=True)
    token = Unicode(help="The address that issues tokens, if it is not the usual one.").tag(config=True)
    lineitems = Unicode(help="The address of the course's columns (line items).").tag(config=True)
    members = Unicode(help="The address of the course's names and roles (memberships).").tag(config=True)
    audience = Unicode(help="The audience of requests for a token, where it is not their address.").tag(config=True)
    dry_run = Bool(False, help="Only show what would be sent.").tag(config=True)
    overwrite = Bool(False, help="Also replace grades that somebody entered or removed there.").tag(config=True)
    raw = Bool(False, help="Send scores without late penalties.").tag(config=True)
    settings = (Lti,)

    def run(self) -> int:
        action, *rest = self.extra_args or [""]
        if action not in ACTIONS:
            raise CourseError(
                "Say what to do: 'viva lti register' registers the course, 'viva lti export' sends scores, and "
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
        headings = {"jwks": "The file for the public address, for instance beside the course's web page"}
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
                Grades(connection).column("")
                self._say("Assignments and grades: the service answers.")

    # Sending scores.

    def _export(self, names: list[str]) -> int:
        root = Path(self.course.root)
        lms = registration.read(root).require_complete()
        pair = self._key(lms)
        assignments = self._graded(self.course.chosen(names))
        documents = []
        with self.alone(self.dry_run):
            agreement.require_kept(self.course, assignments)
            health.settle(self.course)
            with self.console.status("reading the members"), Connection(lms, pair, members.SCOPE) as connection:
                people = members.read(connection)
            with Connection(lms, pair, *SCOPES) as connection:
                grades = Grades(connection)
                for assignment in assignments:
                    documents.append(self._export_one(assignment, grades, people))
        self.show_document(system="lti", platform=lms.host, dry_run=self.dry_run, assignments=documents)
        return 0

    def _graded(self, names: list[str]) -> list[str]:
        """Those in the gradebook. Raises CourseError when none is."""
        with self.course.gradebook() as gradebook:
            entered = {assignment.name for assignment in gradebook.assignments}
        if graded := [name for name in names if name in entered]:
            return graded
        raise CourseError(f"Not in the gradebook: {plaintext.some(names, 20)}. Run 'viva release' first.")

    def _export_one(self, assignment: str, grades: Grades, people: list[Member]) -> dict:
        wishes = Wishes(self.coursedir.student_id, self.overwrite, self.raw)
        with self.console.status(f"comparing {assignment}"), self.course.gradebook() as gradebook:
            plan = scoreplan.planned(self.course, gradebook, assignment, grades, people, self.lti, wishes)
        refused = {} if self.dry_run else self._send(plan, grades)
        self.console.print(plantable.counts(plan))
        table = plantable.people(plan)
        if table.row_count:
            self.console.print(table)
        self._say(*plan.warnings)
        if plan.absent:
            self._say(f"Absent: students who are not in the course on {grades.connection.registration.host}.")
        for user, why in list(refused.items())[: plantable.SHOWN]:
            self._say(f"Not accepted, member {plaintext.line(user)}: {why}")
        sent = len(plan.scores) - len(refused)
        if self.dry_run:
            self._say("Nothing was sent. Run the same command without --dry-run to send it.")
        else:
            self._say(f"{assignment}: {counted(sent, 'score')} sent to {grades.connection.registration.host}.")
        return {
            "assignment": assignment,
            "column": plan.column,
            "sent": 0 if self.dry_run else sent,
            "refused": refused,
            "warnings": plan.warnings,
        } | plantable.document(plan)

    def _send(self, plan: ScorePlan, grades: Grades) -> dict[str, str]:
        """Send what is planned; by user why a score was refused. Raises PlatformError, with how far it came."""
        sent = Sent(self.course, plan.assignment)
        refused: dict[str, str] = {}
        column: Column | None = plan.existing
        for score in plan.arrived:
            assert column is not None
            sent.note(column.id, score, done=True)
        if plan.scores and column is None:
            column = grades.make(plan.assignment, plan.maximum)
        with self.console.status("") as status:
            for number, score in enumerate(plan.scores):
                assert column is not None
                status.update(f"sending {plan.assignment}: {number + 1} of {len(plan.scores)}")
                sent.note(column.id, score, done=False)
                try:
                    grades.send(column, score)
                except PlatformError as error:
                    if error.status not in ONE:
                        done = f"{number - len(refused)} of {len(plan.scores)} scores of {plan.assignment} were sent."
                        again = "The same command goes on where it stopped."
                        raise PlatformError(f"{done} {error} {again}", error.status) from error
                    refused[score.user] = f"{ONE[error.status]} (status {error.status})."
                    continue
                sent.note(column.id, score, done=True)
        return refused
