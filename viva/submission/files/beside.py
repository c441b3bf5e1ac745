"""The files that a student submitted beside a notebook: which of them are shown to people, by their names.

All of them are there while the notebook is graded. Python, Jupyter, nbgrader, make, git and browsers act on many names,
and on more with each version. So this is a list of what is shown, and not of what is not: pictures that hold no code. A
drawing (SVG) can hold some.

They are in ``autograded/`` too, but for modules with the name of an installed one. Who opens a notebook in JupyterLab
starts a kernel in its folder, and Python imports from there first: ``ipykernel_launcher.py`` would run at once.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
import sys
from pathlib import Path, PurePath

from viva.folder import remove, walk
from viva.submission.files import timestamp

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
"""By suffix, the type as which a browser is told to show it."""
DELIVERY = (timestamp.NAME, "submission_secret.txt")
"""What `nbgrader release_feedback` looks for beside a page."""


def picture_type(name: str) -> str:
    """The type of the picture that a file of this name is; empty for every other file."""
    return PICTURES.get(PurePath(name).suffix.lower(), "")


def returned(folder: Path, ignored: list[str]) -> list[Path]:
    """The files of a graded submission that lie beside its pages of feedback, by their paths in its ``folder``.

    No folder is called as a page could be. ``ignored`` are patterns of names.
    """
    names = [path.relative_to(folder) for path in walk(folder, ignored) if path.is_file() and not path.is_symlink()]
    return [
        name
        for name in names
        if str(name) in DELIVERY
        or (picture_type(name.name) and not any(part.lower().endswith(".html") for part in name.parts[:-1]))
    ]


def remove_shadows(folder: Path) -> None:
    """Remove what Python would import from a folder in the place of an installed module."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            if path.name in _installed() and any(
                inspect.getmodulename(entry.name) == "__init__" for entry in path.iterdir()
            ):
                remove(path)
        elif inspect.getmodulename(path.name) in _installed():
            path.unlink()


@functools.cache
def _installed() -> frozenset[str]:
    """The names of all modules that can be imported here."""
    return frozenset(("viva", *sys.stdlib_module_names, *(module.name for module in pkgutil.iter_modules())))
