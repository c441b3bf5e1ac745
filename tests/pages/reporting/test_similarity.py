"""What was copied is found; what everybody writes, what was given and what is too short is not."""

from __future__ import annotations

import random
import re

import pytest

from tests.conftest import PROJECT, SHORT
from tests.flow.test_known_answers import ASSIGNMENTS, notebooks
from viva.pages.reporting.similarity import ALIKE, FEW, LEAST, LENGTH, MOST, compare, kgrams, matching, tokens, winnow
from viva_audit.answers import fill_in, read_answers

LOOP = """
def softmax(scores):
    # by hand
    top = max(scores)
    powers = [np.exp(score - top) for score in scores]
    total = 0.0
    for power in powers:
        total = total + power
    return np.array([power / total for power in powers])
"""
VECTOR = """
def softmax(s):
    z = np.asarray(s, dtype=float)
    z -= z.max(axis=0, keepdims=True)
    np.exp(z, out=z)
    return z / np.sum(z, axis=0)
"""
STUB = {"0": "import numpy as np", "1": "def softmax(scores):\n    # YOUR CODE HERE\n    raise NotImplementedError()"}


def renamed(source: str) -> str:
    """The same with other names, other numbers of spaces, and a comment for every line."""
    others = {"scores": "werte", "powers": "p", "power": "q", "total": "summe", "top": "m", "score": "w"}
    source = re.sub(r"\w+", lambda match: others.get(match[0], match[0]), source)
    return source.replace("    ", "  ").replace("\n", "  # mine\n\n").replace(", ", " ,")


def shared(*sources: str, given: dict = STUB) -> list[tuple[str, str]]:
    answers = {f"s{place}": {"softmax": source} for place, source in enumerate(sources)}
    return [(pair.first, pair.second) for pair in compare(answers, given).pairs]


def test_a_copy_with_other_names_comments_and_spaces_is_found():
    assert renamed(LOOP) != LOOP
    assert shared(LOOP, VECTOR, renamed(LOOP)) == [("s0", "s2")]


def test_two_who_thought_for_themselves_are_not():
    assert shared(LOOP, VECTOR) == []


def test_a_group_is_not_alike_and_whoever_copies_from_it_is():
    answers = {f"s{place}": {"softmax": LOOP} for place in range(FEW + 2)} | {"z": {"softmax": renamed(LOOP)}}
    team = {f"s{place}" for place in range(FEW + 2)}
    assert compare(answers, STUB).pairs == []  # more than FEW wrote it
    found = compare(answers, STUB, [team, {"somebody", "else"}]).pairs
    assert sorted((pair.first, pair.second) for pair in found) == [(one, "z") for one in sorted(team)]
    assert compare({one: answers[one] for one in team}, STUB, [team]).pairs == []


def test_a_copied_part_among_work_of_ones_own_is_found_and_marked():
    longer = VECTOR.replace("softmax", "fast") + renamed(LOOP) + "print(softmax([1, 2, 3]))\n"
    answers = {"a": {"softmax": LOOP}, "b": {"softmax": longer}}
    found = compare(answers, STUB)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b")]
    one, other = matching(answers["a"], answers["b"], found.rare)
    assert "".join(text for _, text in other["softmax"]) == longer
    marked = "".join(text for matches, text in other["softmax"] if matches)
    assert "summe" in marked
    assert "keepdims" not in marked
    assert any(matches for matches, _ in one["softmax"])


def test_moved_into_another_cell_it_is_found_too():
    found = compare({"a": {"one": LOOP, "two": "x = 1"}, "b": {"one": "x = 1", "two": renamed(LOOP)}}, STUB)
    assert len(found.pairs) == 1


def test_the_stub_alone_and_what_was_given_say_nothing():
    assert shared(STUB["1"], STUB["1"]) == []
    assert shared(LOOP, renamed(LOOP), given={"given": LOOP}) == []
    assert compare({"a": {"softmax": STUB["1"]}, "b": {}}, STUB).short == ["a", "b"]


def test_an_answer_that_is_too_short_says_nothing():
    assert shared("x = 1\ny = x + 2", "x = 1\ny = x + 2") == []


def test_what_many_wrote_does_not_count():
    assert len(shared(*[LOOP] * FEW)) == FEW * (FEW - 1) / 2
    assert shared(*[LOOP] * (FEW + 1)) == []


def test_broken_code_is_compared_too():
    broken = LOOP.replace("powers]", "powers").replace("max(", "max((") + "\n'''"
    assert shared(broken, renamed(broken)) == [("s0", "s1")]


def test_groups_hold_who_is_alike_and_the_pair_that_is_most_so():
    answers = {name: {"c": LOOP} for name in "abc"} | {name: {"c": VECTOR + "print(softmax(2))"} for name in "xy"}
    groups = compare(answers, STUB).groups()
    assert sorted(group.students for group in groups) == [["a", "b", "c"], ["x", "y"]]
    assert sum(len(group.pairs) for group in groups) == 4
    assert {group.best.share for group in groups} == {1.0}


def test_any_shared_window_shares_a_fingerprint():
    dice = random.Random(1)
    for _ in range(200):
        common = [dice.randrange(10**6) for _ in range(5)]
        rows = [[dice.randrange(10**6) for _ in range(dice.randrange(9))] for _ in range(4)]
        assert winnow(rows[0] + common + rows[1]) & winnow(rows[2] + common + rows[3])
    assert winnow([]) == set()


def test_a_run_of_tokens_has_the_same_number_in_every_process():
    signs = [sign for sign, _, _ in tokens("total = np.sum(x, 2)  # all")]
    assert signs == ["n", "=", "n", ".", "sum", "(", "n", ",", "0", ")"]
    assert len(kgrams(signs)) == len(signs) - LENGTH + 1
    assert kgrams(signs)[0] == 13568411689334231756


@pytest.mark.parametrize(
    "assignment", [pytest.param(name, marks=[pytest.mark.slow] * (name != SHORT)) for name in ASSIGNMENTS]
)
def test_known_right_answers_are_different_ways_and_none_is_taken_for_a_copy(assignment):
    blueprint, release = notebooks(assignment)
    given = {str(place): cell.source for place, cell in enumerate(release.cells) if cell.cell_type == "code"}
    given |= blueprint.solutions()  # some answers take cells of it
    own = {cell.id for cell in blueprint.cells if cell.purpose == "answer"}
    answers = {}
    for answer in read_answers(PROJECT / "answers" / assignment):
        if answer.right:
            notebook = fill_in(answer, release, blueprint)
            answers[answer.name] = {cell.id: cell.source for cell in notebook.cells if cell.id in own}
    assert compare(answers, given).pairs == []
    name, cells = max(answers.items(), key=lambda one: sum(map(len, one[1].values())))
    answers["copy"] = {cell: source.replace("\n", "  # mine\n") for cell, source in cells.items()}
    assert [{pair.first, pair.second} for pair in compare(answers, given).pairs] == [{"copy", name}]


@pytest.mark.slow
def test_a_class_of_600_is_compared_by_what_few_share():
    dice = random.Random(1)
    ways = (
        "np.dot(x, y)",
        "x @ y.T",
        "x.sum(axis=0)",
        "[a * b for a, b in zip(x, y)]",
        "x[:, None] - y",
        "(x / y) ** 2",
    )
    lines = [f"z = {one} {sign} {other}" for one in ways for other in ways for sign in "+-*"]
    answers = {f"s{n}": {"c": "\n".join(dice.sample(lines, 10))} for n in range(600)}
    answers["cheat"] = {"c": LOOP + answers["s7"]["c"]}
    answers["source"] = {"c": answers["s9"]["c"] + renamed(LOOP)}
    pairs = {(pair.first, pair.second) for pair in compare(answers, STUB).pairs}
    assert ("cheat", "source") in pairs


def test_what_more_than_a_hundred_share_counts_for_nobody_in_a_class_of_any_size():
    class_of = {f"s{place:05}": {"softmax": VECTOR} for place in range(20 * MOST)}
    copies = {f"a{place:05}": {"softmax": LOOP} for place in range(MOST)}
    assert len(compare(class_of | copies, STUB).pairs) == MOST * (MOST - 1) // 2
    assert compare(class_of | copies | {"one more": {"softmax": LOOP}}, STUB).pairs == []


def test_pairs_are_those_that_share_most_of_the_shorter_answers_fingerprints():
    """What the index finds is what comparing everybody with everybody would."""
    halves = [LOOP, VECTOR, LOOP + VECTOR, renamed(LOOP), renamed(VECTOR) + LOOP]
    answers = {f"s{place}": {"softmax": source} for place, source in enumerate(halves)}
    found = compare(answers, STUB)
    kept = {
        who: winnow(kgrams([sign for sign, _, _ in tokens(own["softmax"])])) & found.rare
        for who, own in answers.items()
    }
    pairs = {
        (one, other): (len(kept[one] & kept[other]), min(len(kept[one]), len(kept[other])))
        for one in kept
        for other in kept
        if one < other and min(len(kept[one]), len(kept[other])) >= LEAST
    }
    expected = {place: of for place, of in pairs.items() if of[0] >= LEAST and of[0] >= ALIKE * of[1]}
    assert {(pair.first, pair.second): (pair.shared, pair.of) for pair in found.pairs} == expected != {}
