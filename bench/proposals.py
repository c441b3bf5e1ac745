"""How many mutants the proposed check lines notice: adopted notebooks before and after, as a table.

python -m bench.proposals                          nbgrader's own examples, which are installed with it
python -m bench.proposals PATH ...                 other source notebooks
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbgrader
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from viva.course.course import Course
from viva.sandbox.confinement import MB, USUAL
from viva_audit.adoption import adopt
from viva_audit.audit import audit
from viva_audit.auditresult import Audit
from viva_audit.proposals import proposals, write

EXAMPLES = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "source" / "ps1"
HEAD = """| notebook | killed before | after | by hidden lines only before | after | proposals | left | seconds |
|---|---|---|---|---|---|---|---|"""


def measured(path: Path, root: Path) -> str:
    """The line of the table for a source notebook, which is adopted into a new course at ``root``."""
    (root / "source").mkdir(parents=True)
    config = Config()
    config.CourseDirectory.root = str(root)
    course = Course(CourseDirectory(config=config))
    adopted = adopt(course, path, "adopted")
    how = {"no_sandbox": True, "memory": USUAL.memory_bytes // MB}
    before = audit(course, adopted.assignment, notebook=path.stem, **how)
    start = time.monotonic()
    proposed = proposals(course, before, **how)
    seconds = time.monotonic() - start
    write(course, proposed)
    after = audit(course, adopted.assignment, notebook=path.stem, **how)
    left = proposed.wanted - proposed.noticed()
    numbers = [_killed(before), _killed(after), _surprises(before), _surprises(after), len(proposed.lines), left]
    return f"| {path.parent.name}/{path.name} | {' | '.join(map(str, numbers))} | {seconds:.0f} |"


def _killed(result: Audit) -> str:
    return f"{result.count('killed')} of {result.count('killed') + result.count('survived')}"


def _surprises(result: Audit) -> int:
    return sum(fate.surprise for fate in result.fates)


def main(paths: list[Path]) -> None:
    """Print the table."""
    print(HEAD)
    for path in paths or sorted(EXAMPLES.glob("*.ipynb")):
        folder = Path(tempfile.mkdtemp(prefix="viva-bench-"))
        try:
            print(measured(path, folder / "course"), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
