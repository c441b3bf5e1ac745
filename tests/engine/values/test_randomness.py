"""The random state crosses exactly, and a hostile one is refused before it does anything."""

from __future__ import annotations

import random

import numpy as np
import pytest

from viva.engine import wire
from viva.engine.values.randomness import NO_NUMPY, NO_PYTHON, WORDS, Followed, get_state, news, set_state, with_news


@pytest.fixture(autouse=True)
def unchanged():
    before = random.getstate(), np.random.get_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])


def draw():
    return random.random(), random.gauss(0, 1), random.randrange(10**30), np.random.rand(), np.random.randn()


@pytest.mark.parametrize("warm_up", [0, 1, 2, 623, 624, 1000])
def test_numbers_go_on_where_they_were(warm_up):
    random.seed(warm_up)
    np.random.seed(warm_up)
    for _ in range(warm_up):
        draw()
    random.gauss(0, 1), np.random.randn()  # each has a spare one now
    state = wire.decode(wire.encode(get_state()))
    expected = [draw() for _ in range(3)]
    random.seed(99)
    np.random.seed(99)
    set_state(state)
    assert get_state() == state
    assert [draw() for _ in range(3)] == expected


def test_another_generator_of_numpy_is_left_alone():
    random.seed(5)
    good = get_state()
    expected = random.random()
    np.random.seed(8)
    numbers = np.random.rand()
    np.random.seed(8)
    set_state((good[0], good[1], b"", 0, 0, 0.0))
    assert (random.random(), np.random.rand()) == (expected, numbers)


DRAWS = {
    "nothing": (lambda: None, (NO_PYTHON, NO_NUMPY)),
    "Python's": (random.random, (None, NO_NUMPY)),
    "a spare number of Python's": (lambda: random.gauss(0, 1), (None, NO_NUMPY)),
    "NumPy's": (np.random.rand, (NO_PYTHON, None)),
    "a spare number of NumPy's": (np.random.randn, (NO_PYTHON, None)),
    "both": (draw, (None, None)),
}


@pytest.mark.parametrize("drawn", DRAWS)
def test_what_was_drawn_from_is_told_and_nothing_else_and_the_other_side_goes_on_from_there(drawn):
    work, silent = DRAWS[drawn]
    known = get_state()
    for _ in range(3):  # the second time a spare number is taken, and no other word
        work()
        state = get_state()
        told = wire.decode(wire.encode(news(state, known)))
        assert [part == empty for part, empty in zip((told[:2], told[2:]), silent, strict=True)] == [
            part is not None for part in silent
        ]
        set_state(known)
        set_state(told)
        assert get_state() == state == with_news(known, told)
        known = state


def test_a_side_that_knows_nothing_is_told_all():
    state = get_state()
    assert news(state, ()) == state == with_news((), state)


def spoilt(place: int, value: object) -> tuple:
    state = list(get_state())
    state[place] = value
    return tuple(state)


HOSTILE = {
    "nothing": lambda: None,
    "a list": lambda: list(get_state()),
    "an empty tuple": lambda: (),
    "too few parts": lambda: get_state()[:5],
    "too many parts": lambda: (*get_state(), 1),
    "words of another length": lambda: spoilt(0, b"\0" * 4 * WORDS),
    "words that are a str": lambda: spoilt(0, "x" * 4 * (WORDS + 1)),
    "a place in Python's words beyond the end": lambda: spoilt(0, b"\xff" * 4 * (WORDS + 1)),
    "a spare number that is an int": lambda: spoilt(1, 3),
    "a spare number that is a str": lambda: spoilt(1, "0.5"),
    "a key that is too short": lambda: spoilt(2, b"\0" * 4),
    "a key that is too long": lambda: spoilt(2, b"\0" * 4 * (WORDS + 1)),
    "a position beyond the words": lambda: spoilt(3, WORDS + 1),
    "a position far beyond": lambda: spoilt(3, 2**62),
    "a position before the words": lambda: spoilt(3, -1),
    "a position beyond 64 bits": lambda: spoilt(3, 2**80),
    "a position that is a bool": lambda: spoilt(3, True),
    "a spare flag that is neither": lambda: spoilt(4, 2),
    "a spare number that is none": lambda: spoilt(5, None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_state_is_refused_and_changes_nothing(name):
    state, before = HOSTILE[name](), get_state()
    with pytest.raises(ValueError):
        set_state(state)
    assert get_state() == before
    draw()


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_a_state_that_came_of_a_seed_still_draws_whatever_was_drawn_before(seed):
    random.seed(seed)
    np.random.seed(seed)
    for count in (0, 1, 1000):
        np.random.rand(count)
        random.randbytes(8 * count)
        words, _, key, *rest = state = get_state()
        set_state((words, -8.5, key, *rest[:1], 1, 12.0))
        draw()
        set_state(state)
        assert get_state() == state


CHOSEN = [[0] * 624, [1] + [0] * 623, [1 << 31] + [0] * 623, [0] * 623 + [7], [5, 6] * 312]


@pytest.mark.parametrize("place", ["random", "numpy"])
@pytest.mark.parametrize("chosen", CHOSEN)
def test_a_state_of_chosen_words_is_not_taken_over_because_tests_would_draw_what_an_answer_wants(place, chosen):
    examiner, before = Followed(), get_state()
    words, gauss, key, *rest = before
    made = np.array(chosen, np.uint32).tobytes()
    examiner.take((made + words[-4:], gauss, key, *rest) if place == "random" else (words, gauss, made, *rest))
    assert get_state() == before
    examiner.tell(message := {})
    assert message == {}, "the candidate keeps what it has, too"


@pytest.mark.parametrize(("claimed", "taken"), [(7, True), (5, False), (None, False)])
def test_a_state_is_taken_over_where_it_comes_of_the_seed_that_it_claims(claimed, taken):
    for place, seed in (("random", random.seed), ("numpy", np.random.seed)):
        examiner, before = Followed(), get_state()
        seed(7)
        random.randbytes(8000), np.random.rand(1000)
        made = get_state()
        set_state(before)
        python, numpy = (made[:2], NO_NUMPY) if place == "random" else (NO_PYTHON, made[2:])
        examiner.take((*python, *numpy), {place: claimed})
        assert get_state() == (with_news(before, (*python, *numpy)) if taken else before)


def test_an_invalid_state_is_refused_by_the_examiner():
    examiner = Followed()
    with pytest.raises(ValueError):
        examiner.take(spoilt(3, -1))
