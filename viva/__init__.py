"""Viva: an autograded course kit on nbgrader.

The packages, each with its map at its head. A package uses those below it and none above, and none uses a plug-in
or the check for students; `make lint` holds this:

commands/    what is typed: ``viva grade``, ``viva audit``, ...
pages/       what people read: a student's page, the instructor's report, formgrader
course/      a course on disk: release, the batch with its one writer, the gradebook, regrade
submission/  whatever a student submitted becomes the assignment's notebooks, repaired cell by cell
engine/      a notebook becomes verdicts: one process runs it, another asks it questions
sandbox/     how a process gives up everything but its own work
notebook/    a cell's name, purpose and code, read in one place
cleaning/    a stranger's text, pictures, formulas and markup, made harmless

configuration  what a course's nbgrader_config.py has to say
record       what is known about a graded submission, typed: a line of results.jsonl
wording      the sentences about it, for those who read: words.toml
language     the languages of students: words.de.toml and others; numbers, times, plurals
doors        what other packages add: entry points
editions     facts about each contract, and which submissions an older one graded
clock        times as ISO 8601 and nbgrader write them; nothing is guessed
verdict      the vocabulary of results, and the exception tree
folder       a stranger's folder: walked, measured and removed
location     where a course lies, seen from a folder in it
cli          the ``viva`` command; __main__ starts it

Public, for plug-ins: clock, doors, editions, folder, language, record, verdict, wording.
"""

import importlib

__version__ = "0.1.0"


def check(notebook: str = ""):
    """Check the notebook that this is called in, or another one, as `viva check` does; shown as a table.

    Raises VivaError with a sentence where it cannot be found or checked.
    """
    return _in_notebooks().check(notebook)


def load_ipython_extension(shell) -> None:
    """``%load_ext viva`` defines ``%viva_check``."""
    _in_notebooks().load(shell)


def _in_notebooks():
    # By its name: the core imports nothing of the check, and every module of the package imports this one.
    return importlib.import_module("viva_check.notebook")


ENGINE = 40
"""Raised by every change that can change a verdict, so that what was graded before is graded again."""
