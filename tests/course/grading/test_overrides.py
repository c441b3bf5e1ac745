"""What Viva changes in nbgrader stands in one module, and was looked at with the nbgrader that is installed."""

from __future__ import annotations

import ast
import re
from importlib.metadata import version

from tests.conftest import PROJECT
from viva import configuration
from viva.course.grading import overrides


def test_each_change_holds_once_a_course_is_configured_and_has_a_reason():
    assert configuration.overrides is overrides
    for change in overrides.CHANGES:
        assert getattr(change.owner, change.name) is change.ours and change.reason.endswith("."), change.name


def test_the_changes_were_read_against_the_nbgrader_that_is_installed():
    """Otherwise compare each changed function with the new version, and then raise VERSION."""
    assert version("nbgrader") == overrides.VERSION


def test_no_other_module_changes_nbgrader_when_it_is_imported():
    """Lines such as ``converters.Autograde.init_assignment = ...``, in which a name is one of nbgrader's."""
    found = []
    for path in sorted((PROJECT / "viva").rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        theirs = {
            (name.asname or name.name).partition(".")[0]
            for node in imports
            for name in node.names
            if re.match(r"nbgrader\b|nbconvert\b", getattr(node, "module", "") or name.name)
        }
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        found += [
            f"{path.name}:{target.lineno}"
            for target in targets
            if isinstance(target, ast.Attribute) and ast.unparse(target).partition(".")[0] in theirs
        ]
    assert found == []
