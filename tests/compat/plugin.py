"""Puts Viva's converter in the place of nbgrader's, for nbgrader's own tests of autograding (`make compat`)."""

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import pytest

from viva.course.autograde import Autograde

nbgrader.apps.autogradeapp.Autograde = Autograde
nbgrader.apps.api.Autograde = Autograde

INTENDED = {
    "test_side_effects": "files that a notebook writes are gone after grading; nbgrader keeps them in autograded/",
    "test_infinite_loop_with_output": "such a notebook is graded; nbgrader's test, which it skips, wants it refused",
    "test_many_students": "it wants a PostgreSQL server that was configured by hand",
}
"""What differs on purpose, by the name of nbgrader's test; docs/adopting.md says why, and tests of ours hold it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.name in INTENDED]
    items[:] = [item for item in items if item.name not in INTENDED]
    config.hook.pytest_deselected(items=left_out)
