"""What is concluded from trials, which are plain data here."""

from __future__ import annotations

import pytest

from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import Check
from viva.record import Fault
from viva.verdict import Verdict
from viva_audit.auditresult import Audit, Excuse, Fate, Proof, excuse, weakened
from viva_audit.checkname import CheckName, Ruling, names_of_checks
from viva_audit.judgement import (
    ENDED,
    FORBIDDEN,
    explained,
    fate_of,
    flaky,
    forgive,
    lost_by,
    misfires,
    passed_by_nonsense,
    proof_of,
    scores_of,
    together,
    unnoticed,
    unseen,
    unwarned,
    warn,
)
from viva_audit.mutants import Mutant
from viva_audit.trials import Probe

FAULT = Fault("what failed", "a line\nwhat failed")
MUTANT = Mutant("f", "other axis", "a -> b", "b", "a")
LEFT, RIGHT, LAST = CheckName("test_f", "left"), CheckName("test_f", "right"), CheckName("test_g", "last")
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
    return Probe({check: Ruling(Verdict(verdicts.get(check.title, "passed"))) for check in (LEFT, RIGHT, LAST)})


def lost(**verdicts: str) -> dict[CheckName, Ruling]:
    return trial(**verdicts).lost


@pytest.mark.parametrize(
    ("probe", "losing", "faults"),
    [
        (trial(), {}, []),
        (trial(left="failed"), {LEFT: Ruling(Verdict.FAILED)}, []),
        (Probe(faults=(FAULT,)), {}, [FAULT]),
        (None, {}, [Fault(ENDED)]),
    ],
)
def test_a_known_answer_holds_where_it_loses_what_it_should_and_nothing_failed(probe, losing, faults):
    proof = proof_of("columns", "wrong", [LEFT], probe)
    assert (proof.lost, proof.faults) == (losing, faults) and lost_by(probe) == losing
    assert proof.holds == (losing.keys() == {LEFT})


@pytest.mark.parametrize(
    ("probe", "status", "killers", "note"),
    [
        (trial(), "survived", [], ""),
        (trial(left="failed", last="timeout"), "killed", [LEFT, LAST], ""),
        (Probe(faults=(FAULT,)), "survived", [], "the grader failed: what failed"),
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
        "The check 'test_f: right' does not always give the same result: of 3 runs of the wrong answer two, one was "
        "failed and one was passed."
    )


def test_a_blank_answer_should_lose_a_check_by_a_wrong_answer_or_an_exception():
    found = {LEFT: Ruling(Verdict.FAILED, "timeout: no"), RIGHT: Ruling(Verdict.ERROR), LAST: Ruling(Verdict.TIMEOUT)}
    assert misfires(Proof("untouched", "untouched", [], found)) == [
        "With an empty answer, the check 'test_g: last' fails for the wrong reason: timeout"
    ]


def fate(cell: str, *killers: CheckName, status: str = "killed") -> Fate:
    return Fate(cell, "other axis", "a -> b", "", status, list(killers))


FATES = [
    fate("f", LEFT, RIGHT, LAST),
    fate("f", RIGHT),
    fate("g", LAST),
    fate("g", status="survived"),
    fate("g", status="equal"),
]


def test_a_check_is_scored_by_the_mutants_of_the_answers_that_it_needs():
    left, right, last = scores_of(BLUEPRINT, {"f": {LEFT, RIGHT, LAST}, "g": [LAST]}, FATES, [])
    assert [score.check for score in (left, right, last)] == [LEFT, RIGHT, LAST]
    assert [score.answers for score in (left, right, last)] == [["f"], ["f"], ["f", "g"]]
    assert (left.points, left.hidden, right.points, right.hidden) == (1.0, False, 2.0, True)
    assert (left.kills, left.mutants, left.alone) == (1, 2, 0)
    assert (right.kills, right.mutants, right.alone) == (2, 2, 1)
    assert (last.kills, last.mutants, last.alone) == (2, 4, 1)


@pytest.mark.parametrize(
    ("case", "losing", "doubtful"),
    [
        ("wrong", lost(right="failed"), True),
        ("wrong", lost(left="failed", right="failed"), False),
        ("wrong", {}, False),
        ("right", lost(right="failed"), False),
    ],
)
def test_only_hidden_lines_may_have_noticed_a_wrong_answer_that_loses_no_visible_check(case, losing, doubtful):
    assert unnoticed(Proof("one", case, [], losing), BLUEPRINT) == doubtful


def test_hidden_lines_before_the_checks_count_for_each_of_them():
    cell = Cell("test_f", "tests", "", prelude="### BEGIN HIDDEN TESTS\nassert f\n### END HIDDEN TESTS", checks=CHECKS)
    assert unnoticed(Proof("one", "wrong", [], lost(left="failed")), Blueprint("notebook", (cell,)))


@pytest.mark.parametrize(
    ("shown", "reason", "surprising"),
    [
        (trial(), "", True),
        (trial(left="failed"), "", False),
        (Probe(faults=(FAULT,)), "", False),
        (None, "", False),
        (trial(), "an attack", False),
    ],
)
def test_a_check_surprises_where_nothing_visible_warns_and_the_answer_does_not_say_why(shown, reason, surprising):
    proof = Proof("shortcut", "wrong", [RIGHT], lost(right="failed"))
    assert warn(proof, reason, shown) == []
    scores = scores_of(BLUEPRINT, {}, [], [proof])
    assert [score.surprises for score in scores] == [[], ["shortcut"] * surprising, []]
    sentences = unwarned(scores)
    assert len(sentences) == surprising
    if surprising:
        assert sentences[0].startswith("A student with the mistake ")
        assert "'shortcut'" in sentences[0]


def test_a_reason_that_a_wrong_answer_does_not_need_is_a_fault():
    (sentence,) = warn(Proof("one", "wrong", [], lost(right="failed")), "an attack", trial(left="failed"))
    assert sentence.startswith("The wrong answer one fails a visible check; remove 'hidden: an attack'")


def test_checks_that_notice_the_same_are_told_together():
    scores = scores_of(BLUEPRINT, {"f": {LEFT, RIGHT, LAST}}, FATES, [])
    assert together(scores, FATES, []) == []
    assert together(scores, FATES[:1], []) == [[LEFT, RIGHT, LAST]]
    wrong = Proof("one", "wrong", [], lost(left="failed", last="failed"))
    right = Proof("two", "right", [], lost(left="failed"))
    assert together(scores, FATES[:1], [wrong, right]) == [[LEFT, LAST]]


ROWS = "the rows: they sum to one"
ALIKE = Blueprint(
    "notebook",
    tuple(
        Cell(name, "tests", "", checks=(Check(ROWS, 1.0, "assert f"), Check("the rows", 1.0, "assert f")))
        for name in ("test_f", "test_f_sizes")
    ),
)


def test_checks_are_told_apart_whose_titles_are_alike_or_hold_a_colon():
    """One is lost with a reason in which another's name stands."""
    every = names_of_checks(ALIKE)
    rows, begin, others, other_begin = every
    assert [str(name) for name in every[:3]] == [f"test_f: {ROWS}", "test_f: the rows", f"test_f_sizes: {ROWS}"]
    assert [CheckName.read(str(name)) for name in every] == every
    said = Ruling(Verdict.FAILED, f"timeout: {rows}")
    probe = Probe({name: said if name == others else Ruling(Verdict.PASSED) for name in every})

    proof = proof_of("one", "wrong", [rows], probe)
    assert proof.sentences() == [
        f"The wrong answer one fails 'test_f_sizes: {ROWS}': failed: timeout: test_f: {ROWS}",
        f"The wrong answer one passes 'test_f: {ROWS}', but must fail it.",
    ]
    killed = fate_of(MUTANT, probe)
    assert killed.killers == [others]
    scores = scores_of(ALIKE, {"f": every}, [killed], [])
    assert [(score.check, score.alone) for score in scores if score.kills] == [(others, 1)]
    assert together(scores, [killed], [proof]) == [[rows, begin, other_begin]]
    (sentence,) = flaky(every, {"the solution": [probe, trial(), Probe({others: Ruling(Verdict.PASSED)})]})
    assert sentence.startswith(f"The check 'test_f_sizes: {ROWS}' does not always give the same")

    before = Audit("ps", "nb", [proof], [killed], scores).record()
    assert weakened(before, Audit("ps", "nb", [proof], [killed], scores)) == []
    instead = Audit("ps", "nb", [], [fate_of(MUTANT, Probe({rows: said}))], scores)
    (sentence,) = weakened(before, instead)
    assert sentence.startswith(f"The check 'test_f_sizes: {ROWS}' no longer notices 1 mutant that")
    gone = [score for score in scores if score.check.cell == "test_f"]
    assert weakened(before, Audit("ps", "nb", [], instead.fates, gone)) == [sentence]


def test_what_the_solution_loses_has_the_reason_that_it_has_in_one_process_but_where_the_grader_is_at_fault():
    found = explained(lost(left="error", right="failed", last="ungraded"), {"test_f": "the cause", "test_g": "another"})
    assert {check.title: ruling.reason for check, ruling in found.items()} == {
        "left": "the cause",
        "right": "",
        "last": "",
    }


def test_what_makes_no_sense_of_the_result_or_is_nowhere_forbidden_is_no_error():
    fates = [
        Fate("f", "other result", "return name -> return np.squeeze(name)", "", "survived", owner="title"),
        Fate("f", "other result", "return row -> return np.squeeze(row)", "", "survived", owner="row"),
        Fate("f", "changed argument", "a -> data[0] = 0", "", "survived", owner="row"),
    ]
    kinds = {"title": "str", "row": "numbers"}
    sentences = forgive(fates, kinds, forbidden=True)
    assert [fate.status for fate in fates] == ["excused", "survived", "survived"]
    assert sentences == [
        "1 mutant of 'f' passed every check and may be right, because the result is not an array of numbers, but of "
        "type str. For example: return name -> return np.squeeze(name)"
    ]
    (sentence,) = forgive(fates, kinds, forbidden=False)
    assert "the notebook does not say that the argument must stay the same" in sentence
    assert [fate.status for fate in fates] == ["excused", "survived", "excused"]


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("The table stays as it is.", True),
        ("Do not change the arguments.", True),
        ("Work on a copy.", True),
        ("The list is sorted in place.", True),
        ("Return the mean of each column.", False),
        ("Change the names in the next line.", False),
    ],
)
def test_a_notebook_says_in_many_ways_that_arguments_stay(text, forbidden):
    assert bool(FORBIDDEN.search(text)) == forbidden


def survivor(cell: str, owner: str, line: int, status: str = "survived") -> Fate:
    return Fate(cell, "other axis", f"line {line}", "", status, line=line, owner=owner)


def test_survivors_that_one_check_would_notice_are_one_gap():
    fates = [survivor("f", "Stack.pop", line) for line in (4, 4, 5)]
    fates += [survivor("f", "Stack.push", 2), survivor("f", "Stack.push", 3), survivor("f", "Stack.push", 3)]
    fates.append(survivor("f", "Stack.push", 2, "killed"))
    found = Audit("ps", "nb", fates=fates)
    assert found.blocking() == [
        "3 wrong versions of 'Stack.pop' in 'f' pass every check, for example: line 4",
        "A wrong version of 'f' passes every check: line 2",
        "2 wrong versions of line 3 of 'f' pass every check, for example: line 3",
    ]
    (exercise,) = found.exercises()
    assert (exercise.cell, exercise.tried, exercise.states["killed"]) == ("f", 7, 1)


def test_what_is_unknown_of_a_mutant_blocks_until_it_is_excused_and_does_not_count_in_the_score():
    found = Audit("ps", "nb", fates=[survivor("f", "f", 1, status) for status in ("killed", "equal", "unproven")])
    found.fates[2].note = "two values of type lock cannot be compared"
    (sentence,) = found.blocking()
    assert found.score == 1 and found.failed and "wrong: two values of type lock cannot be compared" in sentence
    assert excuse(found.fates, [Excuse("f", "A lock is a lock.", (found.fates[2].change,))]) == []
    assert found.passed and not found.blocking()


def test_mutants_that_only_hidden_lines_notice_are_told_by_check():
    fates = [fate("f", RIGHT), fate("f", RIGHT), fate("f", LEFT)]
    fates[0].surprise = fates[1].surprise = True
    (sentence,) = unseen(fates)
    assert sentence.startswith(
        "Students cannot see why they fail: a wrong 'f' (a -> b; 1 other mutant, too) fails only hidden lines of "
        "'test_f: right'."
    )
    assert excuse(fates, [Excuse("f", "taught in week five", ("a -> b",))]) == []
    assert unseen(fates) == [] and fates[0].status == "killed"


def test_a_check_that_nonsense_passes_is_named_once_with_all_of_it():
    (sentence,) = passed_by_nonsense({RIGHT: [("f", "()"), ("f", "{}"), ("", "()")]})
    assert sentence.startswith(
        "The check 'test_f: right' passes when the functions of 'f' and all answers return () or {} for every input"
    )
