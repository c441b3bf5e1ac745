"""The revision of nbgrader's tables, which a new gradebook is told.

nbgrader starts a process that looks for it, which takes as long as all else that makes a course, and needs the program
``alembic`` on the path. It stands in files beside nbgrader's own.
"""

from __future__ import annotations

import functools

from nbgrader import api
from nbgrader.dbutil import ALEMBIC_DIR


@functools.cache
def newest() -> str:
    """What nbgrader's ``get_alembic_version`` returns."""
    from alembic.script import ScriptDirectory  # slow to load, and only a new gradebook asks

    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    assert head is not None  # nbgrader's tables have had revisions since its first
    return head


def look_up() -> None:
    """From now on this process looks it up, also where nbgrader makes the gradebook."""
    api.get_alembic_version = newest
