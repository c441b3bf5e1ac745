"""A folder that is written whole: built beside its place, and moved there when it is complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from viva.course.processes import leftovers, stopping
from viva.folder import remove
from viva.term.archives.attempt import TIMESTAMP


def write(files: Mapping[str, Path], place: Path, timestamp: str = "") -> None:
    """Copy files to ``place``, with nbgrader's timestamp.txt where a time is given; what was there before goes.

    A command that is killed leaves the old folder, or the new one, or what ``leftovers.finish_builds`` mends.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with stopping.postponed():
        build = Path(tempfile.mkdtemp(prefix=leftovers.BUILD, dir=place.parent))
        try:
            fresh = build / "new"
            fresh.mkdir()
            for name, path in files.items():
                target = fresh.joinpath(*name.split("/"))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target, follow_symlinks=False)
            if timestamp:
                (fresh / TIMESTAMP).write_text(f"{timestamp}\n", encoding="utf-8")
            if os.path.lexists(place):
                (build / "old").mkdir()
                place.rename(build / "old" / place.name)
            fresh.rename(place)
        finally:
            if not os.path.lexists(place) and (old := build / "old" / place.name).exists():
                old.rename(place)
            try:
                build.rmdir()  # mostly nothing is left in it
            except OSError:
                remove(build)


def stamp(place: Path, timestamp: str) -> None:
    """Write another time of submission into a folder that is there already."""
    leftovers.write(place / TIMESTAMP, f"{timestamp}\n")
