"""The layouts of archives: how each learning system writes sender, attempt, time and file name.

A layout reads the path of a member, or knows nothing of it. Of an archive that is taken whose layout knows the most
members; folders that lie around everything are passed through.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cache

from viva import doors
from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_term.archives import moments
from viva_term.archives.archive import Member
from viva_term.lms.personname import squeezed

ARCHIVES = doors.Door(
    "viva.archives",
    adds="a layout of archives for `viva collect --from=`",
    entry="a `viva_term.archives.layouts.Layout`",
)
Parts = tuple[str, ...]
TIMESTAMP = "timestamp.txt"
"""The file in which nbgrader and Sakai keep when something was submitted."""


@dataclass(frozen=True)
class Sender:
    """Who sent something, as far as an archive tells; what is not known is empty.

    ``label`` is how the archive calls exactly this sender, ``name`` may be another's too.
    """

    label: str
    name: str = ""
    lms: str = ""
    login: str = ""
    email: str = ""
    anonymous: bool = False
    """Whether the label says nothing of a person."""
    others: tuple[Sender, ...] = ()
    """All members of a group, where the archive names them."""
    system: str = ""
    """Which layout told this: the number is of that system."""


@dataclass(frozen=True)
class Piece:
    """One file of an attempt: what its sender called it, and what the archive says of it."""

    sender: Sender
    parts: Parts
    member: Member | None = None
    attempt: str = ""
    """What tells attempts of a sender apart; empty where there is one."""
    time: str = ""
    """As the archive writes it, or its companion."""
    listed: bool = False
    """Whether the time is its companion's."""
    late: bool = False

    @property
    def file(self) -> Member:
        """The member, which every piece has when an archive is understood."""
        assert self.member is not None
        return self.member


@dataclass
class Laid:
    """An archive, understood: the system's key, its pieces, and members that belong to nobody."""

    system: str
    pieces: list[Piece] = field(default_factory=list)
    others: list[Member] = field(default_factory=list)
    depth: int = 0
    """The number of folders around everything."""

    def read(self, parts: Parts, expected: About) -> Piece | None:
        """Who sent a member that was left out, by its name; None where that tells nobody."""
        parts = parts[self.depth :]
        if not parts:
            return None
        if self.system == "github":
            folders = {piece.file.parts[self.depth] for piece in self.pieces}
            login = owners([parts[0], *folders], expected.assignment, expected.known).get(parts[0])
            return Piece(Sender(parts[0], login=login), parts[1:]) if login and len(parts) > 1 else None
        match = layouts()[self.system].read(parts, expected)
        return match if match and match.parts else None


@dataclass(frozen=True)
class About:
    """What helps to understand names: the assignment, and the ids, logins and numbers of the class."""

    assignment: str
    known: frozenset[str] = frozenset()
    """Case-folded."""
    names: frozenset[str] = frozenset()
    """Of students and groups, squeezed."""
    regexp: str = ""
    """nbgrader's FileNameCollectorPlugin.named_regexp."""


_TYPED = r"text\.html|link\.html"
"""What Canvas calls what was typed into a field, or an address."""
_CANVAS = re.compile(
    rf"(?P<late>LATE_)? anon_ (?P<anon>[^_]+) _ (?: \d+_ (?P<afile>.+) | (?P<atext>{_TYPED}) )", re.VERBOSE | re.DOTALL
)
_CANVAS_TEXT = re.compile(rf"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<rest>{_TYPED})", re.DOTALL)
_MOODLE = re.compile(
    r"""
    (?P<label> (?P<name>[^_]*) (?:_(?P<id>\d+))? )     # a name holds no underscore; a default group has no number
    _assignsubmission_ (?P<plugin>[a-z]+) _? (?P<rest>.*)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRIGHTSPACE = re.compile(r"(?P<ids>\d+-\d+) - (?P<rest>.+)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_INBOUND = re.compile(
    r"""
    (?P<student>[^+]+) \+ (?P<assignment>[^+]+) \+
    (?P<time> \d{4}-\d\d-\d\d[ ][\d:.]+[ ][\w-]+ )
    (?: \+.* )?                                  # a secret
    """,
    re.VERBOSE,
)
"""A folder in nbgrader's exchange."""


_BLACKBOARD = re.compile(
    r"""
    (?P<head>.+?) _attempt_ (?P<time>\d{4}(?:-\d\d){5})    # a title and the login; the first time is Blackboard's
    (?: _(?P<file>.+) | (?P<own>\.txt) )                   # its own file has what was typed, and comments
    """,
    re.VERBOSE | re.DOTALL,
)
_ILIAS = re.compile(r"(?P<head>[^_]+_.+_[^_]+)_\d+", re.DOTALL)
_ILIAS_TEAM = re.compile(r"(?P<word>[^\W\d_]+) \d+")
"""A folder around those of the members who uploaded something."""
_ILIAS_LATE = re.compile(r"(?:Late|Versp(?:ä|ae|a)tete) \w+ - (?P<file>.+)", re.DOTALL)
"""What stands before the name of a late file, in English and German."""
TEAMS = (
    "The archive has folders for teams of an ILIAS exercise ('{folder}'). These folders name only the members who "
    "uploaded a file, so nothing was written. Make a folder for each student, with the id or login as its name. Or "
    "collect only for those who uploaded, with c.FileNameCollectorPlugin.named_regexp and --from=nbgrader."
)
_SAKAI = re.compile(
    r"""
    (?P<label> (?P<name>.*?) \( (?P<login>[^()]+) \) )
    (?: _ (?P<rest>.+) )?                             # without folders
    """,
    re.VERBOSE | re.DOTALL,
)
_SAKAI_FOLDER = "Submission attachment(s)"


def _canvas(parts: Parts, expected: About) -> Piece | None:
    if len(parts) != 1:
        return None
    if match := _CANVAS.fullmatch(parts[0]):
        sender = Sender(f"anon_{match['anon']}", anonymous=True)
        return Piece(sender, (match["afile"] or match["atext"],), late=bool(match["late"]))
    tokens = parts[0].split("_")
    places = [position for position in range(1, len(tokens) - 2)
              if tokens[position].isdecimal() and tokens[position + 1].isdecimal()]  # fmt: skip
    if places:
        # A group may have numbers in its name. Behind the first numbers stands what the student called the file, which
        # may look like another's numbers: they count only behind a name that the class knows.
        named = (
            position
            for position in places
            if squeezed("".join(tokens[:position]).removesuffix("LATE")) in expected.names
        )
        position = next((position for position in named if tokens[position] in expected.known), places[0])
        late = tokens[position - 1] == "LATE" and position > 1
        name, user = "_".join(tokens[: position - late]), tokens[position]
        return Piece(Sender(f"{name}_{user}", name, user), ("_".join(tokens[position + 2 :]),), late=late)
    if match := _CANVAS_TEXT.fullmatch(parts[0]):
        sender = Sender(f"{match['name']}_{match['user']}", match["name"], match["user"])
        return Piece(sender, (match["rest"],), late=bool(match["late"]))
    return None


def _moodle(parts: Parts, expected: About) -> Piece | None:
    match = _MOODLE.fullmatch(parts[0])
    if not match or (len(parts) == 1 and not match["rest"]):
        return None
    rest = (match["rest"], *parts[1:]) if match["rest"] else parts[1:]
    return Piece(Sender(match["label"], match["name"].strip()), rest) if rest else None


def _brightspace(parts: Parts, expected: About) -> Piece | None:
    match = _BRIGHTSPACE.fullmatch(parts[0])
    if not match:
        return None
    pieces = match["rest"].split(" - ")
    when = [position for position in range(1, len(pieces)) if moments.read(pieces[position])]
    if len(parts) > 1:
        position = when[-1] if when else len(pieces) - 1
        if position < 1:
            return None
        name, rest = " - ".join(pieces[:position]), parts[1:]
    else:
        position = when[0] if when else 1
        name, rest = " - ".join(pieces[:position]), (" - ".join(pieces[position + 1 :]),)
        if not rest[0]:
            return None
    attempt = parts[0] if len(parts) > 1 else pieces[position]
    return Piece(Sender(f"{match['ids']} - {name}", name), rest, attempt=attempt, time=pieces[position])


def _gradescope(parts: Parts, expected: About) -> Piece | None:
    match = _GRADESCOPE.fullmatch(parts[0])
    if not match or len(parts) < 2:
        return None
    return Piece(Sender(parts[0], anonymous=True), parts[1:], attempt=parts[0])


def _blackboard(parts: Parts, expected: About) -> Piece | None:
    match = _BLACKBOARD.fullmatch(parts[0])
    if not match or len(parts) > 1:
        return None
    _, login = _parted(match["head"], expected)
    file = match["file"] or "blackboard.txt"
    return Piece(Sender(login, login=login), (file,), attempt=match["time"], time=match["time"])


def _ilias(parts: Parts, expected: About) -> Piece | None:
    match = _ILIAS.fullmatch(parts[0])
    if (
        not match or len(parts) < 2 or parts[0].startswith(expected.assignment)
    ):  # that is a repository of GitHub Classroom
        return None
    name, login = _parted(match["head"], expected)
    late = _ILIAS_LATE.fullmatch(parts[-1])
    rest = (*parts[1:-1], late["file"] if late else parts[-1])
    return Piece(Sender(parts[0], name.replace("_", " "), login=login), rest, late=bool(late))


def _refuse_teams(members: list[Member]) -> None:
    """Raises CourseError where the members lie in folders of ILIAS's teams. A single one has to be called Team."""
    for depth in range(DEEPEST + 1):
        within = [member.parts[depth:] for member in members if len(member.parts) > depth + 2]
        teams = [parts[0] for parts in within if _ILIAS_TEAM.fullmatch(parts[0]) and _ILIAS.fullmatch(parts[1])]
        words = {match["word"] for name in teams if (match := _ILIAS_TEAM.fullmatch(name))}
        if len(teams) * 2 > len(members) and (words == {"Team"} or (len(words) == 1 and len(set(teams)) > 1)):
            raise CourseError(TEAMS.format(folder=plaintext.line(teams[0])))


def _parted(head: str, expected: About) -> tuple[str, str]:
    """What stands before a login, and the login: with underscores where the class knows one that ends the text."""
    tokens = head.split("_")
    places = (
        position for position in range(1, len(tokens)) if "_".join(tokens[position:]).casefold() in expected.known
    )
    position = next(places, len(tokens) - 1)
    return "_".join(tokens[:position]), "_".join(tokens[position:])


def _sakai(parts: Parts, expected: About) -> Piece | None:
    match = _SAKAI.fullmatch(parts[0])
    if not match:
        return None
    sender = Sender(match["label"], match["name"].strip(), login=match["login"])
    if match["rest"]:
        folder, _, file = match["rest"].partition("_")
        return Piece(sender, (file, *parts[1:])) if folder == _SAKAI_FOLDER and file else None
    if len(parts) > 2 and parts[1] == _SAKAI_FOLDER:
        return Piece(sender, parts[2:])
    typed = len(parts) == 2 and (parts[1] == TIMESTAMP or parts[1].endswith("_submissionText.html"))
    return Piece(sender, parts[1:]) if typed else None


def _nbgrader(parts: Parts, expected: About) -> Piece | None:
    if len(parts) > 1 and (match := _INBOUND.fullmatch(parts[0])):
        if match["assignment"] != expected.assignment:
            return None
        sender = Sender(match["student"], login=match["student"])
        return Piece(sender, parts[1:], attempt=parts[0], time=match["time"])
    if len(parts) > 2 and parts[1] == expected.assignment:
        return Piece(Sender(parts[0], login=parts[0]), parts[2:])
    return _by_regexp(parts, expected) if expected.regexp else None


def _by_regexp(parts: Parts, expected: About) -> Piece | None:
    """As ``nbgrader zip_collect`` reads names: the expression begins at the start of an absolute path."""
    try:
        match = re.match(expected.regexp, "/" + "/".join(parts))
    except re.error as error:
        raise CourseError(f"FileNameCollectorPlugin.named_regexp is not a regular expression: {error}.") from error
    groups = match.groupdict() if match else {}
    if not groups.get("student_id") or not groups.get("file_id"):
        return None
    name = f"{groups.get('first_name') or ''} {groups.get('last_name') or ''}".strip()
    sender = Sender(groups["student_id"], name, login=groups["student_id"], email=groups.get("email") or "")
    ending = "." + parts[-1].rpartition(".")[2] if "." in parts[-1] else ""
    file = groups["file_id"] if groups["file_id"].endswith(ending) else groups["file_id"] + ending
    time = groups.get("timestamp") or ""
    return Piece(
        sender, tuple(part for part in file.split("/") if part not in ("", ".", "..")), attempt=time, time=time
    )


def _folder(parts: Parts, expected: About) -> Piece | None:
    """A folder for each student, or a file called after one."""
    if len(parts) > 1:
        return Piece(Sender(parts[0], parts[0], parts[0], parts[0], parts[0]), parts[1:])
    stem, _, ending = parts[0].rpartition(".")
    if not stem:
        return None
    name = stem.removesuffix(f"_{expected.assignment}")
    return Piece(Sender(name, name, name, name, name), (f"{expected.assignment}.{ending}",))


@dataclass(frozen=True)
class Layout:
    """How a system lays out its archives; ``extra`` are files of its own that nobody submitted."""

    title: str
    read: Callable[[Parts, About], Piece | None]
    extra: Collection[str] = ()


LAYOUTS = {
    "canvas": Layout("Canvas", _canvas),
    "moodle": Layout("Moodle", _moodle),
    "brightspace": Layout("Brightspace", _brightspace, ("index.html", "index.htm")),
    "gradescope": Layout("Gradescope", _gradescope, ("submission_metadata.yml", "submission_metadata.yaml")),
    "nbgrader": Layout("nbgrader", _nbgrader),
    "blackboard": Layout("Blackboard", _blackboard),
    "sakai": Layout("Sakai", _sakai, ("grades.csv", "grades.xls", "grades.xlsx", "comments.txt", "feedbacktext.html")),
    "ilias": Layout("ILIAS", _ilias),
    "github": Layout("GitHub Classroom", lambda parts, about: None),
    "folder": Layout("a folder for each student", _folder),
}
"""By what --from calls them. The last two are taken when no other knows the names."""


@cache
def layouts() -> dict[str, Layout]:
    """Every layout by what --from calls it: those of other packages first. Raises CourseError."""
    return ARCHIVES.load_all(LAYOUTS) | LAYOUTS


DEEPEST = 3
"""The most folders around everything."""


def lay(members: list[Member], expected: About, system: str = "") -> Laid:
    """Who sent what. Raises CourseError when the system is none, or was named and did not make the archive."""
    systems = layouts()
    if system and system not in systems:
        raise CourseError(f"There is no system '{system}'. The systems are: {', '.join(systems)}.")
    if system in ("", "ilias"):
        _refuse_teams(members)
    readings = [laid for name in ([system] if system else systems) for laid in _read(name, members, expected)]
    readings = [laid for laid in readings if laid.pieces]
    if not readings:
        shown = ", ".join(f"'{member.name}'" for member in members[:3])
        title = systems[system].title if system else "a known system"
        raise CourseError(
            f"The file names in the archive are not those of {title} ({shown}). Name the system with --from: "
            f"{', '.join(systems)}. For other file names, set c.FileNameCollectorPlugin.named_regexp, as for "
            "nbgrader's zip_collect."
        )
    named = [laid for laid in readings if laid.system not in ("github", "folder")]
    best = max(named, key=lambda laid: len(laid.pieces), default=None)
    if best and len(best.pieces) >= len(best.others):
        return best
    return next((laid for laid in readings if laid.system in ("github", "folder")), readings[0])


def _read(system: str, members: list[Member], expected: About) -> Iterable[Laid]:
    """The archive as a system reads it, from outside inwards, until it knows names."""
    layout = layouts()[system]
    for depth in range(DEEPEST + 1):
        inner = [(member, member.parts[depth:]) for member in members if len(member.parts) > depth]
        laid = Laid(system, others=[member for member in members if len(member.parts) <= depth], depth=depth)
        extra = [(member, parts) for member, parts in inner if parts[0] in layout.extra and len(parts) == 1]
        rest = [(member, parts) for member, parts in inner if (member, parts) not in extra] if extra else inner
        if system == "github":
            laid.pieces = _repositories(rest, expected)
        else:
            for member, parts in rest:
                if piece := layout.read(parts, expected):
                    laid.pieces.append(replace(piece, member=member))
        read_members = {id(piece.member) for piece in laid.pieces}
        laid.others += [member for member, _ in (*rest, *extra) if id(member) not in read_members]
        around = {parts[0] for _, parts in rest if len(parts) > 1}
        if laid.pieces and not (system == "folder" and len(around) == 1 and _is_wrapper(around, rest, expected)):
            yield laid
            return
        if len(around) != 1:
            return


def _is_wrapper(around: set[str], rest: list[tuple[Member, Parts]], expected: About) -> bool:
    """Whether the one folder around everything holds students, and is none's."""
    (name,) = around
    inner = {parts[1] for _, parts in rest if len(parts) > 2}
    return name.casefold() not in expected.known and bool(inner)


def _repositories(inner: list[tuple[Member, Parts]], expected: About) -> list[Piece]:
    """Repositories of GitHub Classroom, folders that are called as the assignment and the login of their owner."""
    folders = sorted({parts[0] for _, parts in inner if len(parts) > 1})
    logins = owners(folders, expected.assignment, expected.known)
    return [
        Piece(Sender(parts[0], login=logins[parts[0]]), parts[1:], member)
        for member, parts in inner
        if len(parts) > 1 and parts[0] in logins
    ]


def owners(folders: list[str], assignment: str, known_logins: Collection[str]) -> dict[str, str]:
    """By folder, the login at the end of its name, where one can be told; ``known_logins`` are logins, case-folded.

    A repository of GitHub Classroom is called by the assignment, a hyphen, and the login of its owner.

    Whoever is called evil-anna on GitHub is not anna: what stands before a login is what most repositories with known
    logins share, else the assignment's name, else what all have in common.
    """
    bare = {folder: _bare(folder, known_logins) for folder in folders}
    votes = Counter(
        name[:cut] for name in bare.values() for cut in _cuts(name) if name[cut:].casefold() in known_logins
    )
    slug = re.sub(r"[^a-z0-9]+", "-", assignment.casefold()).strip("-") + "-"
    common = os.path.commonprefix([*bare.values()])  # noqa: RUF071  (letter by letter is meant)
    if votes:
        prefix = min(votes, key=lambda start: (-votes[start], len(start)))
    elif any(name.casefold().startswith(slug) for name in bare.values()):
        prefix = slug
    else:
        prefix = common[: common.rfind("-") + 1] if len(folders) > 1 else ""
    return {
        folder: name[len(prefix) :]
        for folder, name in bare.items()
        if prefix and name.casefold().startswith(prefix.casefold()) and len(name) > len(prefix)
    }


def _cuts(name: str) -> list[int]:
    """Where a login may begin."""
    return [position + 1 for position, sign in enumerate(name) if sign == "-"]


def _bare(name: str, known_logins: Collection[str]) -> str:
    """The name without the branch that GitHub's own zips add, where a known login stands before that."""
    bare = re.sub(r"-(?:main|master)$", "", name)
    return bare if any(bare[cut:].casefold() in known_logins for cut in _cuts(bare)) else name


def sent_from(piece: Piece, system: str) -> Piece:
    """A piece of an archive, with the system that told who sent it."""
    return replace(piece, sender=_sender_from(piece.sender, system))


def _sender_from(sender: Sender, system: str) -> Sender:
    return replace(sender, system=system, others=tuple(_sender_from(member, system) for member in sender.others))


def source(piece: Piece) -> str:
    """The sender, and what tells the attempts apart: the same in every archive that holds it."""
    same = piece.attempt in ("", piece.sender.label)
    return piece.sender.label if same else f"{piece.sender.label} | {piece.attempt}"


def _labels(laid: Laid) -> dict[str, set[str]]:
    """By name, the labels of the senders who are called so."""
    labels = defaultdict(set)
    for piece in laid.pieces:
        labels[piece.sender.name].add(piece.sender.label)
    return labels


def shared(laid: Laid) -> dict[str, int]:
    """By label, how many senders have its name, where two labels are two people."""
    if laid.system not in PERSONAL:
        return {}
    return {label: len(same_name) for same_name in _labels(laid).values() for label in same_name}


def blind(laid: Laid) -> set[str]:
    """The labels of Moodle's senders who are all called the same, as participants of a blind assignment are."""
    if laid.system != "moodle":
        return set()
    labels = _labels(laid)
    single = len(labels) == 1 and len(next(iter(labels.values()))) > 1
    return {label for name, same_name in labels.items() for label in same_name if single or name in PARTICIPANT}


PERSONAL = ("canvas", "moodle")
"""Systems whose labels hold a number of the person: two labels are two people, whatever their names."""
PARTICIPANT = frozenset(
    ("Participant", "Teilnehmer/in", "Teilnehmerin", "Participante", "Partecipante", "Deelnemer")
)  # fmt: skip
"""How Moodle calls who is not to be known: English and French, German (a name holds no slash), and others."""
