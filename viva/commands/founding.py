"""A new course: its folders, configuration and a first assignment; or the lines that an nbgrader course lacks."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.coursedir import CourseDirectory

from viva.commands.configfile import said_in
from viva.configuration import LINES, Rule, ignored, missing
from viva.course.course import Course, require_plain
from viva.course.processes import leftovers
from viva.course.source.skeleton import KERNEL, write_assignment
from viva.location import course_above, course_of_students_files
from viva.verdict import CourseError

CONFIG = "nbgrader_config.py"
FIRST = "ps1"
SETTINGS = f'''"""The configuration of this course; nbgrader, formgrader and viva all read this file."""

from viva import configuration

c = get_config()  # noqa: F821  (traitlets provides it)

c.CourseDirectory.course_id = "{{name}}"

# The cells that ask for a name are in one header, which every assignment includes.
c.IncludeHeaderFooter.header = "source/header.ipynb"

# A test cell that a student deleted is restored before grading.
c.OverwriteCells.add_missing_cells = True

# A cell may run this many seconds, a whole notebook six times as many.
c.Execute.timeout = 30

# Viva's rules. Settings below this line override them.
{LINES.splitlines()[-1]}

# A late submission loses nothing until a rule stands here, such as a tenth of its score for each started day. Each
# assignment can have its own rule:
# c.LatePolicy.zone = "Europe/Berlin"
# c.LatePolicy.assignments = {{{{"{{first}}": {{{{"due": "2026-10-05 23:59", "grace": "15 minutes"}}}}}}}}
# c.LatePolicy.per_day = 0.1
'''
README = """# {name}

An autograded course on nbgrader, with Viva.

    viva audit        test every assignment with right answers, wrong answers and mutants
    viva release      compile source/ into release/, the notebooks for students
    viva grade        grade the submissions in submitted/<student>/<assignment>/
    make formgrader   grade written answers manually
    viva feedback     write a page for each student
    viva report       write a page about the class
    viva export       write grades.csv

`source/{first}/` is a small assignment to start from, `answers/{first}/` holds its known answers. `viva new NAME`
writes another one, `viva adopt NOTEBOOK` adds a notebook that you have. `viva doctor` lists what this machine or
this course lacks.
"""
MAKEFILE = """# One target per step of the flow: make grade, or make grade A=ps1 for one assignment.
VIVA ?= viva

.PHONY: audit release grade feedback report export doctor formgrader
audit release grade feedback report export doctor:
\t@$(VIVA) $@ $(A)
formgrader:
\t@jupyter lab --LabApp.default_url=/formgrader
"""
IGNORED = """.ipynb_checkpoints/
__pycache__/
feedback/
report/
gradebook.db*
gradebook.db.lock
.contracts/
submissions.json
roster.csv
identities.csv
lti.json
canvas.json
*-times.csv
grades.csv
grades.json
grades.xlsx
questions.csv
*-canvas.csv
*-moodle.csv
*-brightspace.csv
*-gradescope.csv
*-feedback.zip
results.jsonl*
regrades.jsonl
attempts/
/lti/
unmatched/
solutions/
variants/
.rehearsals/
.open/
.forgotten/
*-data.zip
watch.json
watch.lock
sending.lock
.journal/
variants.key
excused.csv
extensions.csv
same.csv
matches.csv
*-gradescope.zip
"""
WORKFLOW = Path(__file__).with_name("audit.yml")
"""The job that audits each change of a course on GitHub, and its place in the course."""
PLACE = ".github/workflows/audit.yml"
KEPT_EMPTY = "*\n!.gitignore\n"
REPOSITORY = {
    ".gitignore": IGNORED,
    **{f"{step}/.gitignore": KEPT_EMPTY for step in ("submitted", "autograded")},
    PLACE: WORKFLOW.read_text(encoding="utf-8"),
}
"""What a course on git needs: no student's file is committed, and each change is audited."""
HEADER = "**Before you submit.** Choose *Kernel, Restart Kernel and Run All Cells*, then press *Check*."


@dataclass(frozen=True)
class Founding:
    """The plan for a folder: ``files`` to write by path, or, in an existing course, the rules that it lacks."""

    folder: Path
    files: dict[str, str]
    lacking: tuple[Rule, ...] = ()
    exists: bool = False
    """Whether the folder is a course already."""
    ignored: tuple[str, ...] = ()
    """A sentence for each of its settings that has no effect on Viva."""
    repository: dict[str, str] = field(default_factory=dict)
    """What a repository of an existing course needs and it has not yet, by path."""


def plan(folder: Path, git: bool = False) -> Founding:
    """The plan for a folder; with ``git`` also what a repository needs and the folder has not yet.

    Raises CourseError where no course can be created, or the present one cannot be read.
    """
    folder = folder.resolve()
    require_plain(folder)
    if outer := course_of_students_files(folder):
        raise CourseError(f"{folder} is inside the course {outer}. Name a folder outside of it.")
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file. Name a folder: viva init my_course")
    config = folder / CONFIG
    if config.is_file() or (folder / "source").is_dir():
        text = said_in(config)
        lacking = tuple(missing(text))
        files = {CONFIG: _with_lines(config)} if lacking else {}
        repository = _repository(folder) if git else {}
        return Founding(folder, files, lacking, exists=True, ignored=tuple(ignored(text)), repository=repository)
    if (above := course_above(folder)) and Path(above) != folder:
        raise CourseError(f"{folder} is inside the course {above}. Name a folder outside of it.")
    name = re.sub(r"[^\w-]+", "_", folder.name).strip("_") or "course"
    names = {"name": name, "first": FIRST}
    files = {CONFIG: SETTINGS.format(**names), "README.md": README.format(**names), "Makefile": MAKEFILE}
    files |= {"source/header.ipynb": nbformat.writes(_header()) + "\n"}
    files |= {name: text for name, text in REPOSITORY.items() if git or name != PLACE}
    if existing := [name for name in files if (folder / name).exists()]:
        raise CourseError(
            f"{folder} already has {', '.join(existing)}, so nothing was written. "
            "Name another folder: viva init my_course"
        )
    return Founding(folder, files)


def _repository(folder: Path) -> dict[str, str]:
    """What a repository of this course still needs; a .gitignore gets the lines that it lacks."""
    files = {}
    for name, text in REPOSITORY.items():
        path = folder / name
        if not path.exists():
            files[name] = text
        elif path.name == ".gitignore":
            there = path.read_text(encoding="utf-8")
            if lacking := [line for line in text.splitlines() if line not in there.splitlines()]:
                files[name] = "\n".join(
                    [there.rstrip("\n"), "", "# What Viva writes, with students' data", *lacking, ""]
                )
    return files


def add_repository(founding: Founding) -> list[Path]:
    """Write what a repository of an existing course lacks, and return the paths."""
    for name, text in founding.repository.items():
        leftovers.write(founding.folder / name, text)
    return [founding.folder / name for name in founding.repository]


def found(founding: Founding) -> list[Path]:
    """Write the planned files and return their paths. An existing configuration gets more lines; other files stay."""
    files = {founding.folder / name: text for name, text in founding.files.items()}
    if founding.exists:
        for path, text in files.items():
            leftovers.write(path, text)
        return list(files)
    places = [*files, founding.folder / "answers" / FIRST]
    folders = {folder for path in places for folder in path.parents if not folder.exists()}
    try:
        for path, text in files.items():
            leftovers.write(path, text)
        config = said_in(founding.folder / CONFIG)
        config.CourseDirectory.root = str(founding.folder)
        return [*files, *write_assignment(Course(CourseDirectory(config=config)), FIRST)]
    except BaseException:  # a full disk, or Ctrl-C; a part of a course would be taken for a complete one
        for path in files:
            path.unlink(missing_ok=True)
        for folder in sorted(folders, reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _with_lines(config: Path) -> str:
    """The text of a configuration with the lines that it needs at its end."""
    text = config.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if config.is_file() else ""
    begin = "" if re.search(r"^c\s*=", text, re.MULTILINE) else "c = get_config()  # noqa: F821\n\n"
    return f"{text}{begin}# Viva's rules. Settings below this line override them.\n{LINES}\n"


def _header() -> nbformat.NotebookNode:
    name = new_code_cell('NAME = ""\nCOLLABORATORS = ""', id="name")
    cells = [new_markdown_cell(HEADER, id="before_you_hand_in"), name]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})
