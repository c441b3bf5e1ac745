"""A copy of a course in which a regrade can be tried, and nothing of the real one is touched."""

from __future__ import annotations

import contextlib
import copy
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from nbgrader.api import Base, Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import insert, select
from traitlets.config import Config

from viva import editions
from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.verdict import CourseError

LOG = "regrades.jsonl"


@contextlib.contextmanager
def shadow(course: Course, assignment: str, config: Config) -> Iterator[tuple[Course, Config]]:
    """A copy of a course's gradebook and results, in which an assignment may be released and graded.

    Raises CourseError when the course's folders are laid out in a way that no copy can follow.
    """
    if not course.directory.directory_structure.startswith("{nbgrader_step}"):
        raise CourseError(
            "--what-if does not work with this c.CourseDirectory.directory_structure: "
            f"'{course.directory.directory_structure}'. It must begin with {{nbgrader_step}}, like nbgrader's default."
        )
    with tempfile.TemporaryDirectory(prefix="viva-what-if-") as name:
        folder, config = Path(name), copy.deepcopy(config)
        results = Results.of(course.directory).path
        for path in (results, results.with_name(LOG)):
            if path.exists():
                shutil.copyfile(path, folder / path.name)
        if (contracts := editions.place_of(course.directory, assignment)).is_dir():  # their facts, not their files
            only = shutil.ignore_patterns("notebooks", "released", "files")
            shutil.copytree(contracts, folder / editions.NAME / assignment, ignore=only)
        config.CourseDirectory.root = str(course.root)
        config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
        config.CourseDirectory.release_directory = str(folder / "release")
        config.CourseDirectory.autograded_directory = str(folder / "autograded")
        trial = Course(CourseDirectory(config=config))
        if course.path("release", assignment).is_dir():
            shutil.copytree(course.path("release", assignment), trial.path("release", assignment))
        with course.gradebook() as old, trial.gradebook() as new:
            copy_rows(old, new)
        yield trial, config


def copy_rows(old: Gradebook, new: Gradebook, without: Collection[str] = ()) -> None:
    """Every row of a gradebook, whatever database it lies in; ``without`` those of some tables."""
    tables = [table for table in Base.metadata.sorted_tables if table.name not in without]
    if old.engine.name == "sqlite":  # all tables at one moment; the driver begins only where one writes
        old.db.connection().exec_driver_sql("BEGIN")
    for table in reversed(tables):
        new.db.execute(table.delete())
    for table in tables:
        rows = [dict(row) for row in old.db.execute(select(table)).mappings()]
        if rows:
            new.db.execute(insert(table), rows)
    new.db.commit()
