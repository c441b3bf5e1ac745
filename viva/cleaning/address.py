"""Addresses from a student: where a link may lead, which picture may be shown and which sound may be heard."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from viva.cleaning import picture

SOUND = re.compile(
    r"""
    data:audio/ (?: wave? | x-wav | vnd\.wave | mpeg | mp3 | ogg | webm | flac | x-flac | aac | mp4 )
    ;base64, [\w+/=\s]+      # the sound itself
    """,
    re.VERBOSE,
)
PICTURE = re.compile(
    r"""
    data:image/ (?: png | jpeg | gif | webp | svg\+xml )
    ;base64, [A-Za-z0-9+/=]+      # the picture itself
    """,
    re.VERBOSE,
)
HERE = ("local", "localhost", "localdomain", "internal", "lan", "home")
"""The last names of hosts that are this machine or its neighbours."""


def may_link(url: str) -> bool:
    """Whether a student's link may be clicked: to a place on the page, by mail, or to another host on the network.

    Not to this machine or to formgrader, whose pages a link can make do things, nor to a file that was submitted.
    """
    url = url.strip()
    if url.startswith("#") or re.fullmatch(r"mailto:[\w.+-]+@[\w.-]+(?:\?[^\s\\]*)?", url):
        return True
    match = re.fullmatch(r"https?://([^/?#]+)(?:[/?#].*)?", url, re.IGNORECASE)
    if not match or "\\" in url or not url.isprintable() or "formgrader" in unquote(url).lower():
        return False
    host = unicodedata.normalize("NFKC", match[1]).lower()
    named = re.fullmatch(r"[\w.-]+\.([a-z][a-z0-9-]+)\.?(?::\d+)?", host)
    return named is not None and named[1] not in HERE


def may_show(url: str) -> bool:
    """Whether a picture may be shown: one that is in the address itself, or a file beside the notebook."""
    if match := re.fullmatch(r"data:([\w/+.-]+);base64,(.*)", url, re.DOTALL):
        return not picture.problem(match[1].lower(), match[2])
    return ".." not in url and bool(
        re.fullmatch(r"(?:\w(?:[\w ./-]|%20)*)\.(?:png|jpe?g|gif|webp)", url, re.IGNORECASE)
    )


def is_picture(url: str) -> bool:
    """Whether an address is a picture itself, of a kind that a page of Viva shows."""
    return PICTURE.fullmatch(url) is not None


def may_hear(url: str) -> bool:
    """Whether a sound may be played to those who press its button: one that is in the address itself."""
    return SOUND.fullmatch(url.strip()) is not None
