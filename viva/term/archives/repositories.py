"""Whose a repository of GitHub Classroom is, by its name: the assignment's, a hyphen, and the login of its owner."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection


def owners(folders: list[str], assignment: str, known: Collection[str]) -> dict[str, str]:
    """By folder, the login at the end of its name, where one can be told; ``known`` are logins, case-folded.

    Whoever is called evil-anna on GitHub is not anna: what stands before a login is what most repositories with known
    logins share, else the assignment's name, else what all have in common.
    """
    bare = {folder: _bare(folder, known) for folder in folders}
    votes = Counter(name[:cut] for name in bare.values() for cut in _cuts(name) if name[cut:].casefold() in known)
    slug = re.sub(r"[^a-z0-9]+", "-", assignment.casefold()).strip("-") + "-"
    common = os.path.commonprefix([*bare.values()])  # noqa: RUF071  (letter by letter is meant)
    if votes:
        prefix = min(votes, key=lambda one: (-votes[one], len(one)))
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
    return [place + 1 for place, sign in enumerate(name) if sign == "-"]


def _bare(name: str, known: Collection[str]) -> str:
    """The name without the branch that GitHub's own zips add, where a known login stands before that."""
    bare = re.sub(r"-(?:main|master)$", "", name)
    return bare if any(bare[cut:].casefold() in known for cut in _cuts(bare)) else name
