"""Where a course lies, seen from a folder in it."""

from __future__ import annotations

from pathlib import Path


def course_above(folder: Path) -> str:
    """The nearest folder at or above ``folder`` that is a course; empty if there is none.

    One above needs its own nbgrader_config.py, as many a folder is called source.
    """
    for place in (folder, *folder.parents):
        if (place / "source").is_dir() and (place == folder or (place / "nbgrader_config.py").is_file()):
            return str(place)
    return ""
