"""The mistakes of a course's own field, in ``answers/slips.py``: mutation operators that its instructor wrote.

The file is the instructor's own code, as ``nbgrader_config.py`` is, and runs in the process of the command.
"""

from __future__ import annotations

import types
from pathlib import Path

from viva.folder import read_utf8
from viva.verdict import AnswerError
from viva_audit.operators import Mistakes

NAME = "slips.py"


def path_of(root: Path) -> Path:
    """Where the mistakes of a course stand."""
    return root / "answers" / NAME


def read_mistakes(root: Path) -> Mistakes:
    """The operators of the course in a folder; none where it has no such file. Raises AnswerError for a broken one."""
    path = path_of(root)
    if not path.is_file():
        return Mistakes()
    module = types.ModuleType("slips")
    try:
        exec(compile(read_utf8(path), str(path), "exec"), vars(module))
    except Exception as error:
        raise AnswerError(f"{path} cannot be run: {type(error).__name__}: {error}.") from error
    tables = [getattr(module, name, {}) for name in ("EXPRESSIONS", "BODIES")]
    for table in tables:
        if not isinstance(table, dict) or not all(isinstance(name, str) and callable(table[name]) for name in table):
            raise AnswerError(f"{path}: EXPRESSIONS and BODIES must be dictionaries from names to functions.")
    return Mistakes(*tables)
