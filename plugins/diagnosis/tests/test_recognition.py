"""Which mistakes are named, of outcomes that are written down here."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from viva.engine.blueprint import Blueprint, Cell
from viva.engine.examination import Examination
from viva.engine.ownership import Plan
from viva.notebook.cell import Purpose
from viva_diagnosis.behaviour import Outcome
from viva_diagnosis.fingerprints import Fingerprints, Mistake
from viva_diagnosis.recognition import Reference, recognise

SOURCES = {"a": "def f(x):\n    return x", "b": "def g(x):\n    return 2 * f(x)", "c": "u, v = f(1.5), g(1.5)"}
CELLS = tuple(Cell(name, Purpose.ANSWER, source) for name, source in SOURCES.items())
EXAMINATION = Examination(Blueprint("one", CELLS), Plan(frozenset(), {}), {})
F, G, U, V = "tf:f", "tg:g", "tv:u", "tv:v"
SPOTS = [("tf", [F]), ("tg", [G]), ("tv", [U, V])]


def numbers(*values: float) -> list[Outcome | None]:
    return [Outcome("numbers[3]", values)]


RIGHT = {F: numbers(0.1, 0.2, 0.3), G: numbers(0.2, 0.4, 0.6), U: numbers(1.5), V: numbers(3.0)}
ODD = numbers(0.15, 0.25, 0.35)


def packed(table: dict) -> dict:
    return {key: [outcome.packed() for outcome in outcomes] for key, outcomes in table.items()}


def named(behaviour: dict, *mistakes: Mistake, lost=("tf", "tg", "tv"), unclear=(), **sources: str) -> list:
    reference = Reference.of(Fingerprints("", SPOTS, {key: [] for key in RIGHT}, {}, packed(RIGHT), [*mistakes]))
    cells = [
        new_code_cell(source, id=name, metadata={"nbgrader": {"grade_id": name, "solution": True}})
        for name, source in (SOURCES | sources).items()
    ]
    found, _ = recognise(reference, new_notebook(cells=cells), EXAMINATION, RIGHT | behaviour, lost, unclear)
    return [(one.names, one.mistakes) for one in found]


def mistake(name: str, roots: dict, **more) -> Mistake:
    return Mistake(name, f"{name}.", more.pop("students", f"{name}."), roots=packed(roots), **more)


def test_what_uses_a_wrong_function_names_nothing():
    both = mistake("of f", {F: ODD}), mistake("of g", {G: ODD})
    assert named({F: ODD, G: ODD}, *both) == [(["f"], ["of f"])]
    assert named({F: ODD, G: ODD}, *both, b="def g(x):\n    return x + x") == [(["f"], ["of f"]), (["g"], ["of g"])]
    assert named({G: ODD}, *both) == [(["g"], ["of g"])]


@pytest.mark.parametrize("unclear", [("tf",), ()])
def test_what_uses_a_function_that_does_not_end_names_nothing(unclear):
    fitting = [(["g"], ["of g"])]
    assert named({G: ODD}, mistake("of g", {G: ODD}), lost=["tg"], unclear=unclear) == ([] if unclear else fitting)


def test_a_cell_that_cannot_be_read_may_use_everything():
    of_g = mistake("of g", {G: ODD})
    assert named({F: numbers(1.0), G: ODD}, of_g, b="def g(x: return") == []


def test_only_equal_results_have_a_name():
    assert named({F: numbers(0.15, 0.25, 0.3502)}, mistake("of f", {F: ODD})) == []
    assert named({F: numbers(0.15, 0.25, 0.350003)}, mistake("of f", {F: ODD})) == [(["f"], ["of f"])]
    assert named({F: [None]}, mistake("of f", {F: ODD})) == []


def test_values_of_one_cell_are_recognised_together():
    wrong = {U: numbers(1.25), V: numbers(2.75)}
    assert named(wrong, mistake("both", wrong)) == [(["u", "v"], ["both"])]
    assert named(wrong | {V: numbers(2.25)}, mistake("both", wrong)) == []
    assert named(wrong, mistake("of u", {U: numbers(1.25)})) == []


def test_an_authors_sentence_counts_more_than_a_mutants_and_a_whole_mistake_more_than_a_part():
    mutant, part = mistake("mutant", {F: ODD}, mutant=True), mistake("part", {F: ODD, U: ODD})
    assert named({F: ODD}, mutant) == [(["f"], ["mutant"])]
    assert named({F: ODD}, mutant, part) == [(["f"], ["part"])]
    assert named({F: ODD}, mutant, part, mistake("whole", {F: ODD})) == [(["f"], ["whole"])]


def found_in_f(behaviour: list, *mistakes: Mistake, right=RIGHT[F]):
    reference = Reference.of(Fingerprints("", SPOTS, {}, {}, packed(RIGHT | {F: right}), [*mistakes]))
    answer = new_code_cell(SOURCES["a"], metadata={"nbgrader": {"grade_id": "a", "solution": True}})
    (found,), _ = recognise(reference, new_notebook(cells=[answer]), EXAMINATION, RIGHT | {F: behaviour}, ["tf"])
    return found


def test_several_sentences_for_one_behaviour_are_for_graders_all_of_them_or_none():
    two = [mistake("one", {F: [*ODD, *ODD]}), mistake("two", {F: [*ODD, *ODD]})]
    found = found_in_f([*ODD, *ODD], *two, right=2 * RIGHT[F])
    assert "either “one.” or “two.”" in found.sentence(found.graders, "Your ") and found.students == []
    two[1].students = ""
    found = found_in_f([*ODD, *ODD], *two, right=2 * RIGHT[F])
    assert found.students == [] and len(found.graders) == 2
    assert named({F: ODD}, *(mistake(name, {F: ODD}) for name in "abcd")) == []


@pytest.mark.parametrize(
    ("outcomes", "right", "told"),
    [
        ([*ODD, *ODD], 2 * RIGHT[F], True),
        (ODD, RIGHT[F], False),
        ([*ODD, *RIGHT[F]], 2 * RIGHT[F], False),
    ],
    ids=["two witnesses", "one probe", "one of two probes is right"],
)
def test_a_student_is_told_what_two_witnesses_name(outcomes, right, told):
    """The same array three times was said to come of a variable that the cell above had left."""
    found = found_in_f(outcomes, mistake("one", {F: outcomes}), right=right)
    assert bool(found.students) == told and found.graders == ["one."]
    assert ("the cause may be another" in found.sentence(found.graders)) != told
