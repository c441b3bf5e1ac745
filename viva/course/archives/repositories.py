"""Whose a repository of GitHub Classroom is, by its name: the assignment's, a hyphen, and the login of its owner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection


def owner(folder: str, folders: list[str], assignment: str, known: Collection[str]) -> str:
    """The login at the end of a repository's name: one that is known, else what follows what all have in common."""
    for name in (folder, re.sub(r"-(?:main|master)$", "", folder)):
        cuts = [place + 1 for place, sign in enumerate(name) if sign == "-"]
        if logins := [name[cut:] for cut in cuts if name[cut:].casefold() in known]:
            return logins[0]
    slug = re.sub(r"[^a-z0-9]+", "-", assignment.casefold()).strip("-") + "-"
    if folder.casefold().startswith(slug):
        return folder[len(slug) :]
    prefixes = Counter(name[: name.find("-") + 1] for name in folders)
    if len(folders) < 2 or len(prefixes) > 1 or "" in prefixes:
        return ""
    common = folders[0]
    for name in folders[1:]:
        while not name.startswith(common):
            common = common[:-1]
    return folder[common.rfind("-") + 1 :]
