"""Names of students that tell nobody who they are: the same in every report of a course, and kept nowhere else."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from viva.cleaning import legible
from viva.processes import leftovers

LONGEST = 80
SHORTEST = 3
"""A shorter name is not looked for in texts, where it would be found in every word and number."""


class Names:
    """How students are called in a report: by their id, or by a pseudonym that a secret key makes of it."""

    def __init__(self, key: bytes | None = None, known: Iterable[str] = (), others: Iterable[str] = ()) -> None:
        """``known`` are all ids, ``others`` further names that may stand in texts, by the id they belong to.

        Without a key students keep their ids.
        """
        self.key = key
        self.others = dict.fromkeys(filter(None, others), "a student")
        self.ids = {student: self.of(student) for student in known}
        hidden = {name.lower(): shown for name, shown in (self.others | self.ids).items() if len(name) >= SHORTEST}
        self.hidden = hidden if key else {}
        # A name ends where letters and digits do: "anna_2" and "/home/anna/" hold one, "savanna" does not.
        names = "|".join(map(re.escape, sorted(self.hidden, key=len, reverse=True)))
        self.pattern = re.compile(rf"(?<![^\W_])(?:{names})(?![^\W_])", re.IGNORECASE) if names else None

    def of(self, student: str) -> str:
        """What to call a student."""
        if self.key is None:
            return legible.line(student, LONGEST)
        return f"student-{hmac.new(self.key, student.encode(errors='surrogateescape'), hashlib.sha256).hexdigest()[:8]}"

    def text(self, text: str) -> str:
        """A text of anybody's without the ids and names of students."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda match: self.hidden[match[0].lower()], text)


def key_in(path: Path) -> bytes:
    """The course's secret key, made when there is none yet; without it nobody can tell who a pseudonym is."""
    if not path.exists() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True)
        with leftovers.whole(path, mode=0o600) as file:  # half a key, or none, would hide nobody
            file.write(secrets.token_hex(32) + "\n")
    return path.read_bytes().strip()
