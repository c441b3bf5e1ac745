"""What is concluded from trials, which are plain data here."""

from __future__ import annotations

import pytest

from viva.author.auditresult import Fate, Proof
from viva.author.judgement import ENDED, fate_of, flaky, lost_by, proof_of, scores_of, together
from viva.author.mutants import Mutant
from viva.author.trials import Probe
from viva.engine.blueprint import Blueprint, Cell, Check

MUTANT = Mutant("f", "other axis", "a -> b", "b", "a")
LEFT, RIGHT, LAST = "test_f: left", "test_f: right", "test_g: last"
CHECKS = Check("left", 1.0, "assert f"), Check("right", 2.0, "### BEGIN HIDDEN TESTS\nassert f\n### END HIDDEN TESTS")
BLUEPRINT = Blueprint(
    "notebook",
    (
        Cell("test_f", "tests", "", checks=CHECKS),
        Cell("test_g", "tests", "", checks=(Check("last", 1.0, "assert f and g"),)),
    ),
)


def trial(**verdicts: str) -> Probe:
    """What came of a notebook, by the title of a check."""
    return Probe({check: (verdicts.get(check.split()[1], "passed"), "") for check in (LEFT, RIGHT, LAST)})


@pytest.mark.parametrize(
    ("probe", "lost", "faults"),
    [
        (trial(), {}, []),
        (trial(left="failed"), {LEFT: "failed"}, []),
        (Probe(faults=("a line\nwhat failed",)), {}, ["a line\nwhat failed"]),
        (None, {}, [ENDED]),
    ],
)
def test_a_known_answer_holds_where_it_loses_what_it_should_and_nothing_failed(probe, lost, faults):
    proof = proof_of("columns", "wrong", [LEFT], probe)
    assert (proof.lost, proof.faults) == (lost, faults) and lost_by(probe) == lost
    assert proof.holds == (lost.keys() == {LEFT})


@pytest.mark.parametrize(
    ("probe", "status", "killers", "note"),
    [
        (trial(), "survived", [], ""),
        (trial(left="failed", last="timeout"), "killed", [LEFT, LAST], ""),
        (Probe(faults=("a line\nwhat failed",)), "survived", [], "the grader failed on it: what failed"),
        (None, "killed", [], ENDED),
    ],
)
def test_a_mutant_survives_that_no_check_notices(probe, status, killers, note):
    fate = fate_of(MUTANT, probe)
    assert (fate.status, fate.killers, fate.note) == (status, killers, note)
    assert (fate.cell, fate.operator, fate.change) == ("f", "other axis", "a -> b")


def test_a_check_is_flaky_where_two_runs_of_one_text_differ():
    runs = {
        "the solution": [trial(), None, trial()],
        "the right answer one": [trial(left="failed"), trial(left="failed")],
        "the wrong answer two": [trial(right="failed"), trial(), trial(right="error")],
        "the wrong answer three": [trial(right="failed"), trial()],
    }
    (sentence,) = flaky([LEFT, RIGHT, LAST], runs)
    assert sentence.startswith(
        "The check 'test_f: right' is flaky: of 3 runs of the wrong answer two one was failed and one passed."
    )


def fate(cell: str, *killers: str, status: str = "killed") -> Fate:
    return Fate(cell, "other axis", "a -> b", "", status, list(killers))


FATES = [
    fate("f", LEFT, RIGHT, LAST),
    fate("f", RIGHT),
    fate("g", LAST),
    fate("g", status="survived"),
    fate("g", status="equivalent"),
]


def test_a_check_is_scored_by_the_mutants_of_the_answers_that_it_needs():
    left, right, last = scores_of(BLUEPRINT, {"f": {LEFT, RIGHT, LAST}, "g": [LAST]}, FATES)
    assert [score.check for score in (left, right, last)] == [LEFT, RIGHT, LAST]
    assert [score.answers for score in (left, right, last)] == [["f"], ["f"], ["f", "g"]]
    assert (left.points, left.hidden, right.points, right.hidden) == (1.0, False, 2.0, True)
    assert (left.kills, left.mutants, left.alone) == (1, 2, 0)
    assert (right.kills, right.mutants, right.alone) == (2, 2, 1)
    assert (last.kills, last.mutants, last.alone) == (2, 4, 1)


def test_checks_that_notice_the_same_are_told_together():
    scores = scores_of(BLUEPRINT, {"f": {LEFT, RIGHT, LAST}}, FATES)
    assert together(scores, FATES, []) == []
    assert together(scores, FATES[:1], []) == [[LEFT, RIGHT, LAST]]
    wrong, right = Proof("one", "wrong", [], {LEFT: "failed", LAST: "failed"}), Proof("two", "right", [], {LEFT: ""})
    assert together(scores, FATES[:1], [wrong, right]) == [[LEFT, LAST]]
