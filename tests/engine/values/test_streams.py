"""A told state is right if drawing leads to it from one that is known; whatever is drawn, and however often."""

from __future__ import annotations

import random

import numpy as np
import pytest

from viva.engine.values import streams as streaming
from viva.engine.values.randomness import get_state, of_seed, places_of
from viva.engine.values.streams import WORDS, Place, Stream, of_numpy, of_python


@pytest.fixture(autouse=True)
def unchanged(monkeypatch):
    monkeypatch.setattr(streaming, "MOST", 2**22)  # what nothing leads to is searched for so long
    before = random.getstate(), np.random.get_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])


def places() -> dict[str, Place]:
    return dict(zip(("random", "numpy"), places_of(get_state()), strict=True))


def streams() -> dict[str, Stream]:
    known = {"random": Stream(of_python), "numpy": Stream(of_numpy)}
    for name, place in places().items():
        known[name].at(place)
    return known


DRAWS = {
    "nothing": lambda: None,
    "some": lambda: (random.random(), np.random.rand(3)),
    "a spare normal number": lambda: (random.gauss(0, 1), np.random.randn()),
    "one behind an odd number of words": lambda: (
        random.getrandbits(32),
        random.gauss(0, 1),
        np.random.randint(9, dtype=np.uint32),
        np.random.randn(),
    ),
    "one that is used up": lambda: (random.gauss(0, 1), random.gauss(0, 1), np.random.randn(4)),
    "one far behind": lambda: (random.gauss(0, 1), random.randbytes(10**5), np.random.randn(), np.random.rand(10**5)),
    "one over the end of a block": lambda: (
        random.randbytes(4 * 622),
        random.gauss(0, 1),
        np.random.bytes(4 * 622),
        np.random.randn(),
    ),
    "a whole block": lambda: (random.randbytes(4 * WORDS), np.random.bytes(4 * WORDS)),
    "many blocks": lambda: (random.randbytes(10**6), np.random.bytes(10**6)),
    "a shuffle and a choice": lambda: (random.sample(range(1000), 100), np.random.permutation(1000)),
    "other distributions": lambda: (random.betavariate(1, 2), np.random.gamma(2, size=99), np.random.binomial(9, 0.3)),
}


@pytest.mark.parametrize("drawn", DRAWS)
def test_drawing_leads_to_a_state_step_by_step_and_at_once(drawn):
    random.seed(8)
    np.random.seed(8)
    known, first = streams(), streams()
    for _ in range(3):
        DRAWS[drawn]()
        for name, place in places().items():
            assert known[name].follows(place)
            assert first[name].follows(place)
            first[name].at(first[name].places[-1])


@pytest.mark.parametrize("library", ["random", "numpy"])
def test_a_state_of_before_is_reached_again_and_one_of_another_seed_only_with_the_seed(library):
    random.seed(1)
    np.random.seed(1)
    known = streams()[library]
    for _ in range(3):
        DRAWS["many blocks"]()
        if _ == 1:
            saved = places()[library]
        assert known.follows(places()[library])
    assert known.follows(saved)
    random.seed(2)
    np.random.seed(2)
    DRAWS["some"]()
    other = places()[library]
    assert known.follows(other, [of_seed(library, 2)])
    DRAWS["many blocks"]()
    assert known.follows(places()[library]), "its stream is the known one now"
    assert not known.follows(Place(b"\1" * 4 * WORDS, 5)) and known.lost


def spoilt(place: Place, **changed: object) -> Place:
    return Place(**{**vars(place), **changed})


CHOSEN = {
    "zeros": lambda place: spoilt(place, block=bytes(4 * WORDS)),
    "one bit": lambda place: spoilt(place, block=bytes(4 * WORDS - 1) + b"\1"),
    "312 words of one's own": lambda place: spoilt(place, block=bytes(2 * WORDS) + place.block[2 * WORDS :]),
    "one word of one's own": lambda place: spoilt(place, block=bytes(4) + place.block[4:]),
    "a spare number of one's own": lambda place: spoilt(place, spares=(0.0,)),
    "a spare number that is none": lambda place: spoilt(place, spares=(float("nan"),)),
    "a spare number far away": lambda place: spoilt(place, spares=(8.0,)),
}


@pytest.mark.parametrize("library", ["random", "numpy"])
@pytest.mark.parametrize("chosen", CHOSEN)
def test_drawing_leads_to_no_chosen_state(chosen, library):
    random.seed(8)
    np.random.seed(8)
    known = streams()[library]
    DRAWS["some"]()
    assert not known.follows(CHOSEN[chosen](places()[library]))
    assert known.lost
    assert not known.follows(CHOSEN[chosen](places()[library]))
    known.at(places()[library])
    DRAWS["many blocks"]()
    assert known.follows(places()[library]), "it goes on once it is known again"


def test_nothing_is_searched_for_behind_a_seed_that_nobody_knows():
    known = streams()["numpy"]
    np.random.seed()
    assert not known.follows(places()["numpy"], unknown_seed=True)


SEEDS = {
    "random": [0, 1, -5, 42, 2**64, 2**255, 1.5, "text", b"bytes", ""],
    "numpy": [0, 1, 42, 2**32 - 1, [1, 2, 3], [7]],
}


@pytest.mark.parametrize(("library", "seed"), [(library, seed) for library in SEEDS for seed in SEEDS[library]])
def test_a_seed_leads_to_its_stream(library, seed):
    known = streams()[library]
    {"random": random.seed, "numpy": np.random.seed}[library](seed)
    DRAWS["one behind an odd number of words"]()
    assert known.follows(places()[library], [of_seed(library, seed)])


@pytest.mark.parametrize(
    ("library", "seed"),
    [
        *(("random", seed) for seed in (None, 2**256, "x" * 65, bytes(65), [1], (1,), object())),
        *(("numpy", seed) for seed in (None, -1, 2**32, 1.5, "x", [1] * 9, [], [2**32], [None], {})),
    ],
)
def test_a_seed_of_so_many_words_that_any_state_can_be_made_of_it_is_none(library, seed):
    assert of_seed(library, seed) is None
