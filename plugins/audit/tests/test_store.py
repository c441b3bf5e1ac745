"""After a change in one test, an audit runs that test again and takes all else from what is kept."""

from __future__ import annotations

import json
import shutil

import nbformat
import pytest

from plugins.audit.tests.test_audit import CHECKS, audited, course, small, write
from viva.notebook.cell import Purpose, name_of
from viva_audit import audit as auditing
from viva_audit.auditresult import Audit

__all__ = ["course", "small"]

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.slow]


@pytest.fixture
def jobs(monkeypatch):
    """The jobs that an audit gives to its workers."""
    given: list[tuple] = []

    class Counting(auditing.Workers):
        def map(self, jobs):
            return super().map(given.append(job) or job for job in jobs)

    monkeypatch.setattr(auditing, "Workers", Counting)
    return given


def facts(result: Audit) -> dict:
    """What an audit came to, without its times."""
    told = json.loads(json.dumps(result.record()))
    for timed in told["proofs"]:
        del timed["seconds"]
    for fate in told["fates"]:
        del fate["calls"], fate["inputs"]  # a slow machine tries fewer
    return {name: value for name, value in told.items() if name not in ("seconds", "slowest", "limit", "megabytes")}


def ran_tests(job: tuple) -> set[str]:
    """The test cells that a job runs."""
    known = next(part for part in job if hasattr(part, "blueprint"))
    return {cell.id for cell in known.blueprint.cells if cell.purpose == Purpose.TESTS and cell.checks}


def test_what_has_not_changed_is_not_run_again_and_comes_out_the_same(course, jobs):
    first = facts(audited(course))
    assert len(jobs) > 60
    jobs.clear()
    assert facts(audited(course)) == first
    assert [job[1] for job in jobs] == ["rehearse"]

    write(course, CHECKS.replace("default_rng(5)", "default_rng(6)"))
    jobs.clear()
    changed = audited(course)
    graded = [job for job in jobs if job[1] in ("grade", "grade_changed")]
    assert {cell for job in graded if job[0][0] not in ("untouched", "solution") for cell in ran_tests(job)} == {
        "test_centre"
    }
    carried = [job for job in jobs if job[1] == "grade_carried"]  # what a test loses decides what others are given
    assert carried and all(ran_tests(job) == {"test_centre", "test_spread"} for job in carried)
    jobs.clear()
    assert facts(audited(course, renew=True)) == facts(changed)
    assert len(jobs) > 60


@pytest.mark.thorough
def test_a_stopped_audit_goes_on_where_it_was(course, jobs, monkeypatch):
    whole = facts(audited(course))
    total = len(jobs)
    shutil.rmtree(course / "report" / "audit")

    def stopped(done, known):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audited(course, progress=stopped)
    jobs.clear()
    assert facts(audited(course)) == whole
    assert len(jobs) < 0.7 * total


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["an answer", "a read-only cell", "a file", "a known answer"])
def test_what_something_depends_on_is_run_again_when_that_changes(course, jobs, what):
    audited(course)
    path = course / "source" / "small" / "small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    by_name = {name_of(cell): cell for cell in notebook.cells}
    if what == "an answer":
        by_name["spread"].source = by_name["spread"].source.replace("np.max(", "np.amax(")
    elif what == "a read-only cell":
        by_name["setup"].source += "\nmore = 1"
    elif what == "a file":
        (course / "source" / "small" / "data.csv").write_text("1")
    else:
        answer = course / "answers/small/wrong/rows.py"
        answer.write_text(answer.read_text().replace("axis=1, keepdims=True", "axis=1)[:, None"))
        answer.write_text(answer.read_text().replace("[:, None)", "[:, None]"))
    nbformat.write(notebook, path)
    jobs.clear()
    audited(course)
    again = {job[0][0] for job in jobs if job[1].startswith("grade")}
    assert ("mutant" in again) == (what != "a known answer")
    assert "answer" in again


def test_one_mutant_is_run_again_by_its_number(course, viva, jobs):
    fates = audited(course).fates
    killed = next(fate for fate in fates if fate.status == "killed")
    equal = next(fate for fate in fates if fate.status == "equal")
    jobs.clear()
    said = viva("audit", "small", "--no-sandbox", f"--mutant={killed.number}")
    assert said.status == 0, said.text
    assert killed.diff.splitlines()[-1] in said.out and f"Noticed by: {killed.killers[0]}" in said.out
    said = viva("audit", "small", "--no-sandbox", f"--mutant={equal.number}")
    assert f"it gave the same results as the solution in {equal.calls} calls" in said.out
    assert "has no mutant number 9999" in viva("audit", "small", "--no-sandbox", "--mutant=9999").text
