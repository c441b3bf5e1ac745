"""The certificate says what an audit has proven, without solutions, hidden lines, times or paths."""

from __future__ import annotations

import copy
import json

import pytest

from plugins.audit.tests.test_audit import CHECKS, LARGEST, audited, course, small, strong  # noqa: F401
from tests.conftest import load
from viva.verdict import CourseError
from viva_audit.certificate import certificate, write_certificate

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.usefixtures("processes")]

CENTRE_ONLY = '''"""Centres the rows.

Loses:
    everything else
Keeps:
    nothing
"""

# %% centre
def centre(table):
    return table - np.mean(table, axis=1, keepdims=True)

# %% [solution] *
'''


def released(root) -> None:
    """Stand-in for the student version, whose bytes alone count here."""
    (root / "release" / "small").mkdir(parents=True)
    (root / "release" / "small" / "small.ipynb").write_text("{}")


def test_the_certificate_names_what_each_check_catches_and_holds_no_solution_and_no_hidden_line(strong, course):  # noqa: F811
    released(course)
    html, data = (path.read_text() for path in write_certificate(load(course)[0], strong))
    document = json.loads(data)
    rows = {check["title"]: check for check in document["checks"]}
    assert rows["a table of two columns"]["catches"] == ["rows"] and document["wrong"] == {"rows": "Centres the rows."}
    assert rows["other tables: they stay as they are"]["hidden"] and document["points"] == 4
    assert document["twice"] == {} and "loses no point in another exercise" in html
    assert document["versions"]["numpy"] and len(document["sha256"]["source"]) == 64
    for page in (html, data):
        assert "Centres the rows." in page
        assert not [line for line in ("np.mean(table", "rng.normal", "The table was changed") if line in page]


def test_the_page_begins_with_the_mistakes_that_no_visible_line_notices(strong, course):  # noqa: F811
    released(course)
    course_here = load(course)[0]
    surprises = sum(fate.surprise for fate in strong.fates)
    begin = write_certificate(course_here, strong)[0].read_text().partition("<ul>")[0]
    assert f"<strong>{surprises}</strong> wrong solutions pass every visible line" in begin and "#hidden-only" in begin
    visible = copy.deepcopy(strong)
    for fate in visible.fates:
        fate.surprise = False
    assert "Nothing to do." in write_certificate(course_here, visible)[0].read_text().partition("<ul>")[0]


def test_a_slower_machine_in_another_folder_writes_the_same_bytes(strong, course):  # noqa: F811
    released(course)
    slower = copy.deepcopy(strong)
    slower.seconds, slower.slowest, slower.limit, slower.megabytes = 900.0, 7.0, 99.0, 512
    for proof in slower.proofs:
        proof.seconds *= 10
    course_here = load(course)[0]
    first = [path.read_bytes() for path in write_certificate(course_here, strong)]
    assert [path.read_bytes() for path in write_certificate(course_here, slower)] == first
    assert str(course).encode() not in b"".join(first)


def test_a_mistake_that_costs_points_in_another_exercise_is_named(course):  # noqa: F811
    (course / "answers/small/wrong/rows.py").write_text(CENTRE_ONLY)
    with (course / "nbgrader_config.py").open("a") as file:  # with errors carried forward it would cost nothing there
        file.write("c.Examine.carry_forward = []\n")
    released(course)
    document = certificate(load(course)[0], audited(course))
    assert document["twice"] == {"rows": [str(LARGEST)]}


def test_what_failed_or_is_not_released_has_no_certificate(strong, course, viva):  # noqa: F811
    with pytest.raises(CourseError, match="not released"):
        certificate(load(course)[0], strong)
    failing = copy.deepcopy(strong)
    failing.errors.append("The solution loses a check.")
    with pytest.raises(CourseError, match="its audit failed"):
        certificate(load(course)[0], failing)
    result = viva("audit", "small", "--certificate", "--no-sandbox")
    assert result.status != 0 and "is not released. Run: viva release small" in result.out + result.err
