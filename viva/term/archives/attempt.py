"""One attempt of a sender: its files, called as their sender called them, and all that is known of when it was sent."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from viva.cleaning import plaintext
from viva.folder import MOST_LEVELS, walk
from viva.submission.files import timestamp as handed_in
from viva.term.archives import archive, membername
from viva.term.archives.layouts import Laid, Piece, Sender
from viva.term.archives.listing import HANDED_IN
from viva.verdict import CourseError, SubmissionError
from viva.wording import counted

TIMESTAMP = handed_in.NAME
"""nbgrader's file with the time of submission; a student's own of that name would be taken for it."""
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""What a student may have packed a submission into."""
_RENUMBERED = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<ending>\.ipynb)", re.IGNORECASE | re.DOTALL)
"""What Canvas makes of the name of a file that is handed in again."""


@dataclass
class Attempt:
    """What a sender handed in at one time, from an archive or from ``unmatched/``."""

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
    kept: Path | None = None
    """Its folder, where it lies in ``unmatched/`` already."""
    told: str = ""
    """The text that tells when it was sent, as it was found."""
    moment: datetime | None = None
    """When it was sent, in UTC."""
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


def _attempt(pieces: list[Piece], system: str, origin: Path, room: Path, notebooks: set[str], place: int) -> Attempt:
    one = pieces[0]
    source = one.sender.label if one.attempt in ("", one.sender.label) else f"{one.sender.label} | {one.attempt}"
    result = Attempt(
        one.sender,
        source,
        time=one.time,
        in_utc=system == "nbgrader" and not one.listed,
        archive=origin.name,
        place=place,
    )
    result.late = any(piece.late for piece in pieces)
    if system in ("nbgrader", "sakai"):
        stamps = [piece for piece in pieces if piece.parts == (TIMESTAMP,)]
        pieces = [piece for piece in pieces if piece not in stamps]
        result.time = result.time or (text_of(stamps[0].member.path) if stamps else "")
    files = list(_unpacked(pieces, room, result.notes))
    result.files = _named(files, notebooks, system == "canvas", result.notes)
    digests = {path: digest for _, path, digest in files}
    result.digest = digest_of((name, digests[path]) for name, path in result.files.items())
    return result


def timestamp(path: Path, zones: Iterable[str]) -> str:
    """The time in a file of nbgrader's, in UTC; its text where that tells no certain time."""
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


def _unpacked(pieces: Sequence[Piece], room: Path, notes: list[str]) -> Iterator[tuple[tuple[str, ...], Path, str]]:
    """Each file's place, where its bytes are and their hash; archives give what is in them."""
    for number, piece in enumerate(pieces):
        name = piece.parts[-1]
        ending = next((one for one in ARCHIVES if name.lower().endswith(one)), "")
        inner = _inner(piece, room / str(number), notes) if ending else None
        if inner is None:
            yield from _near([(piece.parts, piece.member)], notes)
            continue
        tops = {member.parts[0] for member in inner}
        wrapped = len(tops) == 1 and all(len(member.parts) > 1 for member in inner)
        # What is all of a submission lies as if it had not been packed.
        around = piece.parts[:-1] if len(pieces) == 1 else (*piece.parts[:-1], name[: -len(ending)] or name)
        yield from _near([((*around, *member.parts[wrapped:]), member) for member in inner], notes)


def _near(files: list[tuple[tuple[str, ...], archive.Member]], notes: list[str]) -> Iterator:
    """Those that lie no deeper than anybody looks."""
    for parts, member in files:
        if len(parts) > MOST_LEVELS:
            notes.append(f"{plaintext.quoted('/'.join(parts))} was left out: it lies {len(parts) - 1} folders deep.")
        else:
            yield parts, member.path, member.digest


def _inner(piece: Piece, room: Path, notes: list[str]) -> list[archive.Member] | None:
    """What a packed file holds; None when it stays packed, with a note why."""
    name = plaintext.quoted("/".join(piece.parts))
    try:
        found = archive.unpack(piece.member.path, room, HANDED_IN)
    except CourseError as error:
        why = str(error).replace(str(piece.member.path), "it")
        notes.append(f"{name} stays packed: {why.removesuffix('.')}.")
        return None
    if not found.members:
        notes.append(f"{name} stays packed: it holds no file that could be unpacked.")
        return None
    notes += [f"In {name}: {sentence}" for sentence in found.left_out]
    notes.append(f"{name} was unpacked: {counted(len(found.members), 'file')}.")
    return found.members


def _named(
    files: list[tuple[tuple[str, ...], Path, str]], notebooks: set[str], renumbered: bool, notes: list[str]
) -> dict[str, Path]:
    """By a name that is safe and nobody else's, where each file lies."""
    cleaned = [(tuple(map(membername.safe, parts)), parts, path, digest) for parts, path, digest in files]
    taken = {membername.folded("/".join(parts[:end])) for parts, *_ in cleaned for end in range(1, len(parts))}
    taken.add(TIMESTAMP)
    seen: dict[tuple[str, str], str] = {}
    found = {}
    for parts, told, path, digest in reversed(cleaned):  # of two that have one name, the last is the one to be read
        name = "/".join(parts)
        if (membername.folded(name), digest) in seen:
            notes.append(f"{plaintext.quoted(name)} is there twice, with the same bytes.")
            continue
        if renumbered:
            name = _unnumbered(name, notebooks, taken)
        fresh = membername.unlike(name, taken)
        seen[membername.folded("/".join(parts)), digest] = fresh
        found[fresh] = path
        if (name != "/".join(told) and not renumbered) or fresh != name:
            notes.append(f"{plaintext.quoted('/'.join(told))} is kept as {plaintext.quoted(fresh)}.")
    return dict(sorted(found.items()))


def _unnumbered(name: str, notebooks: set[str], taken: set[str]) -> str:
    """The notebook's name without the number that Canvas gave it, where the assignment has no notebook so called."""
    found = _RENUMBERED.fullmatch(name)
    known = {membername.folded(one) for one in notebooks}
    if not found or membername.folded(name.removesuffix(found["ending"])) in known:
        return name
    plain = found["stem"] + found["ending"]
    return plain if membername.folded(found["stem"]) in known and membername.folded(plain) not in taken else name


def digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The hash of a submission, of the names of its files and the hashes of their bytes."""
    whole = hashlib.sha256()
    for name, digest in sorted(files):
        raw = os.fsencode(name)
        whole.update(b"%d:%s%s\n" % (len(raw), raw, digest.encode()))
    return whole.hexdigest()


def files_in(folder: Path) -> dict[str, Path]:
    """The plain files of a submission's folder by name, without nbgrader's timestamp."""
    found = {path.relative_to(folder).as_posix(): path for path in walk(folder)}
    return {name: path for name, path in found.items()
            if name != TIMESTAMP and path.is_file() and not path.is_symlink()}  # fmt: skip


def digest_in(folder: Path) -> str:
    """The hash of a submission that lies in a folder."""
    return digest_of((name, _digest(path)) for name, path in files_in(folder).items())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
