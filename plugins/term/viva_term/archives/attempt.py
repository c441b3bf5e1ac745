"""One attempt of a sender: its files under their own names, and the facts about its time of submission."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from viva.cleaning import plaintext
from viva.folder import MOST_LEVELS, walk
from viva.submission.files import timestamp as handed_in
from viva.verdict import CourseError, SubmissionError
from viva.wording import counted
from viva_term.archives import archive, membername
from viva_term.archives.archive import Member
from viva_term.archives.layouts import Laid, Piece, Sender, source
from viva_term.archives.listing import HANDED_IN, Limits, NoRoomError, TooLargeError, megabytes, of_submission

TIMESTAMP = handed_in.NAME
"""nbgrader's file with the time of submission; a student's own of that name would be taken for it."""
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""What a student may have packed a submission into."""
_RENUMBERED = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<ending>\.ipynb)", re.IGNORECASE | re.DOTALL)
"""What Canvas makes of the name of a file that is submitted again."""


@dataclass
class Attempt:
    """What a sender submitted at one time, from an archive or from ``unmatched/``."""

    sender: Sender
    source: str
    """The sender and what tells the attempts apart: the same in every archive that holds it."""
    files: dict[str, Path] = field(default_factory=dict)
    """By name within the submission, where its bytes are."""
    digest: str = ""
    time: str = ""
    """As the archive or its companion writes it."""
    late: bool = False
    in_utc: bool = False
    """Whether a time without a zone is in UTC, as nbgrader's are."""
    archive: str = ""
    place: int = 0
    """Its place among all that is collected in one go; later ones are newer where no times tell."""
    notes: list[str] = field(default_factory=list)
    packed: list[str] = field(default_factory=list)
    """Why archives in it stay packed that somebody may have to unpack, a sentence each."""
    kept: Path | None = None
    """Its folder, where it lies in ``unmatched/`` already."""
    problem: str = ""
    """Why it was left out; then it counts for no student."""
    refused: str = ""
    """Why it cannot be written for its student; it waits until it can."""
    links: dict[object, tuple[str, Member]] = field(default_factory=dict)
    """By what all names of a file share, its name here, and the member of the archive."""
    told: str = ""
    """The text that tells when it was sent, as it was found."""
    moment: datetime | None = None
    """When it was sent, in UTC."""
    earlier: tuple[str, datetime] | None = None
    """What an earlier command found: the text that told the time, and the moment that it came to, in UTC."""
    unsaid: bool = False
    """Whether it was collected before Viva kept in which zone its time was meant."""
    order: datetime | None = None
    """When it was sent by some clock, where no zone is known: it tells which attempt is the newest, and no more."""

    @property
    def rank(self) -> tuple:
        """The newest attempt has the highest."""
        when = self.moment or self.order
        return when is not None, when.timestamp() if when else 0.0, self.place


def attempts(laid: Laid, origin: Path, room: Path, notebooks: set[str], first: int = 0) -> list[Attempt]:
    """The attempts in an archive; archives among their files are unpacked below ``room``, one level deep."""
    together: dict[tuple[str, str], list[Piece]] = defaultdict(list)
    for piece in laid.pieces:
        # In Brightspace's older layout each file of a submission may have numbers of its own.
        flat = laid.system == "brightspace" and piece.attempt == piece.time
        together[piece.sender.name if flat else piece.sender.label, piece.attempt].append(piece)
    return [
        _attempt(pieces, laid.system, origin, room / str(number), notebooks, first + number)
        for number, pieces in enumerate(together.values())
    ]


def _attempt(pieces: list[Piece], system: str, origin: Path, room: Path, notebooks: set[str], number: int) -> Attempt:
    first = pieces[0]
    in_utc = system == "nbgrader" and not first.listed
    result = Attempt(first.sender, source(first), time=first.time, in_utc=in_utc, archive=origin.name, place=number)
    result.late = any(piece.late for piece in pieces)
    if system in ("nbgrader", "sakai"):
        stamps = [piece for piece in pieces if piece.parts == (TIMESTAMP,)]
        pieces = [piece for piece in pieces if piece not in stamps]
        result.time = result.time or (text_of(stamps[0].file.path) if stamps else "")
    files = list(_unpacked(pieces, room, result))
    linked = [piece for piece in pieces if piece.file.linked is not None]
    result.links = {piece.file.linked: ("/".join(piece.parts), piece.file) for piece in linked}
    result.files = _named(files, notebooks, system == "canvas", result.notes)
    digests = {path: digest for _, path, digest in files}
    result.digest = digest_of((name, digests[path]) for name, path in result.files.items())
    return result


def without(left: list[tuple[Piece, archive.LeftOut]], origin: Path) -> list[Attempt]:
    """What was left out, an attempt for each sender and attempt, with the reason."""
    together: dict[tuple[str, str], list[tuple[Piece, archive.LeftOut]]] = defaultdict(list)
    for piece, member in left:
        together[piece.sender.label, piece.attempt].append((piece, member))
    attempts = []
    for members in together.values():
        piece, _ = members[0]
        result = Attempt(piece.sender, source(piece), time=piece.time, archive=origin.name)
        result.problem = "; ".join(
            f"{plaintext.quoted('/'.join(piece.parts))}: {member.problem}" for piece, member in members
        )
        taken: set[str] = set()
        for piece, member in members:
            if member.path:
                name = membername.unlike(f"{'/'.join(map(membername.safe, piece.parts))}.zip", taken)
                result.files[name] = member.path
        result.digest = digest_of((name, digest_of_file(path)) for name, path in result.files.items())
        attempts.append(result)
    return attempts


def timestamp(path: Path, zones: Iterable[str]) -> str:
    """The time in a file of nbgrader's, in UTC; its text where the time is not certain."""
    try:
        when = handed_in.read(path, zones)
    except SubmissionError:
        return text_of(path)
    return f"{when:%Y-%m-%d %H:%M:%S.%f} UTC" if when else ""


def text_of(path: Path) -> str:
    """What stands in a file of nbgrader's; empty when it cannot be read."""
    try:
        return handed_in.text_in(path)
    except SubmissionError:
        return ""


def _unpacked(pieces: Sequence[Piece], room: Path, result: Attempt) -> Iterator[tuple[tuple[str, ...], Path, str]]:
    """Each file's place, where its bytes are and their hash; archives give what is in them.

    The limits are those of all archives of the submission together. Raises NoRoomError.
    """
    notes = result.notes
    limits = of_submission(sum(piece.file.size for piece in pieces if _ending(piece)))
    for number, piece in enumerate(pieces):
        name, ending = piece.parts[-1], _ending(piece)
        inner, whole = _inner(piece, room / str(number), result, limits) if ending else (None, False)
        if not inner:
            yield piece.parts, piece.file.path, piece.file.digest
            continue
        used = sum(member.size for member in inner)
        limits = replace(limits, total=limits.total - used, members=limits.members - len(inner))
        tops = {member.parts[0] for member in inner}
        wrapped = len(tops) == 1 and all(len(member.parts) > 1 for member in inner)
        # What is all of a submission lies as if it had not been packed.
        around = piece.parts[:-1] if len(pieces) == 1 else (*piece.parts[:-1], name[: -len(ending)] or name)
        for member in inner:
            parts = (*around, *member.parts[wrapped:])
            if len(parts) > MOST_LEVELS:
                where = plaintext.quoted("/".join(parts))
                result.packed.append(f"{where} was not unpacked: it is {len(parts) - 1} folders deep.")
                whole = False
            else:
                yield parts, member.path, member.digest
        if not whole:
            notes.append(f"{plaintext.quoted('/'.join(piece.parts))} was kept, together with the files in it.")
            yield piece.parts, piece.file.path, piece.file.digest


def _ending(piece: Piece) -> str:
    """The ending of an archive's name; empty for other files."""
    return next((ending for ending in ARCHIVES if piece.parts[-1].lower().endswith(ending)), "")


def _inner(piece: Piece, room: Path, result: Attempt, limits: Limits) -> tuple[list[Member] | None, bool]:
    """What a packed file holds, and whether that is all of it; None when it stays packed, with a note why.

    Raises NoRoomError: what was submitted is not at fault, and may not stay packed for it.
    """
    name, notes = plaintext.quoted("/".join(piece.parts)), result.notes
    try:
        unpacked = archive.unpack(piece.file.path, room, limits)
    except NoRoomError as error:
        raise NoRoomError(
            str(error).replace(str(piece.file.path), f"{name} in {plaintext.line(result.archive)}")
        ) from error
    except TooLargeError:
        result.packed.append(
            f"{name} was not unpacked, because it is too large. All archives of one submission together can have "
            f"{HANDED_IN.members:,} files, {megabytes(HANDED_IN.total)}, and {HANDED_IN.ratio} times their packed "
            f"size if that is more than {megabytes(HANDED_IN.small)}."
        )
        return None, True
    except CourseError as error:
        why = str(error).replace(str(piece.file.path), "it")
        notes.append(f"{name} was not unpacked: {why.removesuffix('.')}.")
        return None, True
    if not unpacked.members:
        notes.append(f"{name} was not unpacked: none of its files can be unpacked.")
        return None, True
    for member, sentence in zip(unpacked.left, unpacked.left_out, strict=True):
        (result.packed if member.limited else notes).append(f"In {name}: {sentence}")
    notes.append(f"{name} was unpacked: {counted(len(unpacked.members), 'file')}.")
    return unpacked.members, not any(member.limited for member in unpacked.left)


def _named(
    files: list[tuple[tuple[str, ...], Path, str]], notebooks: set[str], renumbered: bool, notes: list[str]
) -> dict[str, Path]:
    """By a name that is safe and nobody else's, where each file lies."""
    cleaned = [(tuple(map(membername.safe, parts)), parts, path, digest) for parts, path, digest in files]
    taken = {membername.folded("/".join(parts[:end])) for parts, *_ in cleaned for end in range(1, len(parts))}
    taken.add(TIMESTAMP)
    seen: dict[tuple[str, str], str] = {}
    by_name = {}
    for parts, original, path, digest in reversed(cleaned):  # of two that have one name, the last is the one to be read
        name = "/".join(parts)
        if (membername.folded(name), digest) in seen:
            notes.append(f"{plaintext.quoted(name)} is in the submission twice, with the same content.")
            continue
        if renumbered:
            name = _unnumbered(name, notebooks, taken)
        fresh = membername.unlike(name, taken)
        seen[membername.folded("/".join(parts)), digest] = fresh
        by_name[fresh] = path
        if (name != "/".join(original) and not renumbered) or fresh != name:
            notes.append(f"{plaintext.quoted('/'.join(original))} was renamed to {plaintext.quoted(fresh)}.")
    return dict(sorted(by_name.items()))


def _unnumbered(name: str, notebooks: set[str], taken: set[str]) -> str:
    """The notebook's name without the number that Canvas gave it, where the assignment has no notebook so called."""
    match = _RENUMBERED.fullmatch(name)
    folded_names = {membername.folded(notebook) for notebook in notebooks}
    if not match or membername.folded(name.removesuffix(match["ending"])) in folded_names:
        return name
    plain = match["stem"] + match["ending"]
    return plain if membername.folded(match["stem"]) in folded_names and membername.folded(plain) not in taken else name


def digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The hash of a submission, of the names of its files and the hashes of their bytes."""
    whole = hashlib.sha256()
    for name, digest in sorted(files):
        raw = os.fsencode(name)
        whole.update(b"%d:%s%s\n" % (len(raw), raw, digest.encode()))
    return whole.hexdigest()


def files_in(folder: Path) -> dict[str, Path]:
    """The plain files of a submission's folder by name, without nbgrader's timestamp."""
    files = {path.relative_to(folder).as_posix(): path for path in walk(folder)}
    return {name: path for name, path in files.items()
            if name != TIMESTAMP and path.is_file() and not path.is_symlink()}  # fmt: skip


def digest_in(folder: Path) -> str:
    """The hash of a submission that lies in a folder."""
    return digest_of((name, digest_of_file(path)) for name, path in files_in(folder).items())


def digest_of_file(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
