"""The names of an archive's members: decoded, split, and made fit for any file system.

A zip says of a name that it is UTF-8, or says nothing, and then it is in the code page of whoever packed it. What says
nothing is UTF-8 where its bytes allow that, else cp437 (western DOS and Windows) or cp866 (Cyrillic), whichever gives
words of one script. A name that was unpacked before in the wrong code page is put right in the same way.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

UTF8 = 0x800
"""The flag by which a zip says that a name is UTF-8."""
PAGES = ("cp437", "cp866")
"""The likelier first, where both give words."""
LONGEST = 200
"""Bytes of a name in a folder; file systems take 255, and a name may have to be told from another by a number."""
_RESERVED = re.compile(
    r"""
    (?: con | prn | aux | nul | com[0-9¹²³] | lpt[0-9¹²³] | conin\$ | conout\$ )
    (?: \. | $ )      # an ending, whatever it is
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What Windows takes for a device, whatever the ending."""
_FORBIDDEN = re.compile(r'[<>:"|?*\\/]')
_DRIVE = re.compile(r"[a-z]:", re.IGNORECASE)


def decoded(names: Iterable[tuple[str, int]]) -> list[str]:
    """The names of a zip's members, each given as cp437 would read it, with the member's flags."""
    names = list(names)
    unmarked = [name.encode("cp437") for name, flags in names if not flags & UTF8]
    page = _page([raw for raw in unmarked if not raw.isascii() and _utf8(raw) is None])
    read = [name if flags & UTF8 else _read(name.encode("cp437"), page) for name, flags in names]
    return [repaired(name) for name in read]


def _read(raw: bytes, page: str) -> str:
    return raw.decode(page) if (text := _utf8(raw)) is None else text


def _utf8(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _page(raws: list[bytes]) -> str:
    """The code page in which the fewest words are odd; one archive has one."""
    return min(PAGES, key=lambda page: sum(_odd(raw.decode(page)) for raw in raws))


def repaired(name: str) -> str:
    """The name in composed letters; one whose UTF-8 was read in a code page is put right."""
    if not name.isascii() and (before := _odd(name)):
        for page in PAGES:
            try:
                better = name.encode(page).decode("utf-8")
            except UnicodeError:
                continue
            if _odd(better) < before:
                name = better
                break
    return unicodedata.normalize("NFC", name)


def _odd(text: str) -> int:
    """How many words no language writes: of two scripts, with lines and currencies in them, or of accents only."""
    return sum(map(_is_odd, re.findall(r"[^\s_.,()\-]+", unicodedata.normalize("NFC", text))))


def _is_odd(word: str) -> bool:
    foreign = [letter for letter in word if not letter.isascii()]
    letters = [letter for letter in word if letter.isalpha()]
    scripts = {unicodedata.name(letter, "?").partition(" ")[0] for letter in letters}
    drawn = any(
        "\u2500" <= letter <= "\u25ff" or letter in "«»¿¡¢£¥₧ƒªº¬½¼αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²" for letter in foreign
    )
    drawn = drawn and not (scripts <= {"GREEK"} or word.count("ß") == len(foreign))
    accents = scripts == {"LATIN"} and len(foreign) > 1 and 2 * len(foreign) > len(word)
    return drawn or accents or bool({"LATIN", "CYRILLIC"} <= scripts)


def parts(name: str) -> tuple[str, ...]:
    """The folders and the file that a name contains, and which lie in the archive.

    Raises ValueError, with the reason, for a name that leads out of it.
    """
    name = name.replace("\\", "/")
    if name.startswith("/") or _DRIVE.match(name):
        raise ValueError("its name is absolute")
    pieces = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in pieces:
        raise ValueError("its name points outside the folder")
    if not pieces:
        raise ValueError("it has no name")
    return pieces


def safe(part: str) -> str:
    """A name that every file system takes, as like the old one as may be."""
    clean = _FORBIDDEN.sub(
        "_", "".join(letter if letter.isprintable() or letter in "\u200c\u200d" else "_" for letter in part)
    )
    clean = clean.rstrip(". ") or "_"
    if _RESERVED.match(clean) or clean.startswith(".viva-"):
        clean = f"_{clean}"
    return shortened(clean)


def shortened(name: str) -> str:
    """A name of at most LONGEST bytes; a cut one ends as before, and differs from others by a hash."""
    raw = name.encode("utf-8", "replace")
    if len(raw) <= LONGEST:
        return raw.decode()
    stem, dot, ending = name.rpartition(".")
    ending = dot + ending if stem and len(ending.encode("utf-8", "replace")) < 20 else ""
    mark = f"~{hashlib.sha256(raw).hexdigest()[:8]}{ending}"
    return raw[: LONGEST - len(mark.encode())].decode("utf-8", "ignore") + mark


def folded(name: str) -> str:
    """What two names have in common that a file system may take for one."""
    return unicodedata.normalize("NFC", name).casefold()


def unlike(name: str, taken: set[str]) -> str:
    """The name, with a number where another is taken for the same; ``taken`` holds them ``folded``, and gets it too.

    >>> unlike("hw.ipynb", {"hw.ipynb"})
    'hw (1).ipynb'
    """
    fresh, number = name, 0
    folder, slash, last = name.rpartition("/")
    stem, dot, ending = last.rpartition(".") if "." in last[1:] else (last, "", "")
    while folded(fresh) in taken:
        number += 1
        fresh = f"{folder}{slash}{stem} ({number}){dot}{ending}"
    taken.add(folded(fresh))
    return fresh
