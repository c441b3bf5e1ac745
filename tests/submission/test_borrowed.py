"""Other people's notebooks, which hold the answers and none of the assignment's cells (tests/borrowed.py)."""

from __future__ import annotations

import random

import pytest

from tests.borrowed import answers_in, borrow, borrowed_bytes
from tests.conftest import PROJECT
from tests.oral import thinned
from tests.submission.cells.test_repair import CASES, TWO
from viva.engine.blueprint import read_blueprint
from viva.record import doubtful
from viva.submission.cells.repair import repair
from viva.submission.cells.texts import squeezed
from viva.submission.files.salvage import read
from viva_audit.answers import fill_in, read_answers

NAMELESS = ("stale_variables", "name_misspelt", "log_softmax", "placeholder_left")
"""Answers that do not give the names that are asked for, or have code that never runs."""


def answers_to(assignment: str) -> dict[str, dict[str, str]]:
    (path,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    blueprint, release = read_blueprint(path), CASES[assignment][0].release
    known = [answer for answer in read_answers(PROJECT / "answers" / assignment) if answer.name not in NAMELESS]
    found = {answer.name: answers_in(fill_in(answer, release, blueprint)) for answer in known}
    left_out = {name for name, texts in found.items() if "NotImplementedError" in "".join(texts.values())}
    return {name: texts for name, texts in found.items() if name not in left_out}


@pytest.mark.parametrize("assignment", TWO)
@pytest.mark.parametrize("seed", [0, *thinned(range(1, 8))])
def test_every_answer_is_in_its_place_no_text_is_one_and_nothing_is_doubted(assignment, seed):
    released, dice = CASES[assignment][0].released, random.Random(seed)
    answers = answers_to(assignment)
    for name in dice.sample(sorted(answers), k=4):
        borrowed = borrow(answers[name], dice)
        result = repair(read(borrowed_bytes(borrowed))[0], released)
        texts = {cell.id: squeezed(cell.source) for cell in result.notebook.cells}
        assert {key: texts[key] for key in borrowed.answers} == {
            key: squeezed(text) for key, text in borrowed.answers.items()
        }, name
        written = [slot for slot in released.slots if slot.written]
        assert [texts[slot.cell.id] for slot in written] == [slot.squeezed for slot in written]
        assert (doubtful(result.repairs), result.share_given) == ((), 1), (name, result.repairs)


@pytest.mark.parametrize("assignment", TWO)
@pytest.mark.parametrize("seed", [0, *thinned(range(1, 8))])
def test_an_answer_that_is_given_twice_is_doubted_whichever_counts(assignment, seed):
    released, dice = CASES[assignment][0].released, random.Random(seed)
    answers = answers_to(assignment)
    for name, other in (dice.sample(sorted(answers), k=2) for _ in range(4)):
        last = list(answers[name])[-1]
        if squeezed(answers[name][last]) == squeezed(answers[other][last]):
            continue
        borrowed = borrow(answers[name], dice, answers[other][last])
        result = repair(read(borrowed_bytes(borrowed))[0], released)
        slot = next(slot for slot in released.slots if slot.name == last)
        assert set(released.tests_of(slot)) <= set(doubtful(result.repairs)), (
            name,
            other,
            result.repairs,
        )
