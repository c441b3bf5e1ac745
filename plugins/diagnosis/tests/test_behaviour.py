"""When two outcomes are equal, and how much a mistake's results tell."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest

from viva_diagnosis import askedvalues
from viva_diagnosis.behaviour import ENOUGH, Outcome, agree, equal, evidence, read_outcomes


def outcome(value) -> Outcome | None:
    """What one call came to that gave this value."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        askedvalues.viva_probe(lambda: value, '[[{"tuple": []}, {"dict": []}]]')
    (told,) = read_outcomes(printed.getvalue())
    return told


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ([1.0, 2.0], np.array([1.0, 2.0], np.float32), True),
        ([[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]]), True),
        (np.array([1.0, 3e-7]), np.array([1.0, 0.0]), True),
        (np.array([3e-6, 1e-6]), np.array([3e-6, 2e-6]), False),
        (np.array([1.0, 2.0]), np.array([[1.0, 2.0]]), False),
        (([1.0], "a"), ([1.0], "b"), False),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (True, 1, False),
        (None, None, True),
    ],
)
def test_values_are_equal_by_their_form_and_nearly_by_their_numbers(one, two, same):
    assert agree(outcome(one), outcome(two), outcome(one)) is same


@pytest.mark.parametrize("number", [0.5, 0.49995, 0.12345])
def test_no_number_stands_at_an_edge(number):
    one, near = outcome(np.array([number, 1.0])), outcome(np.array([number * (1 + 1e-6), 1.0]))
    assert equal([one], [near], [one])


def test_what_cannot_cross_is_equal_to_nothing():
    assert outcome(object()) is None
    assert not equal([None], [None], [outcome(1.0)])


def test_errors_and_constants_tell_too_little():
    right = [outcome(np.array([0.25, 0.75 + step])) for step in range(5)]
    assert evidence([Outcome(error="ValueError")] * 5, right) < ENOUGH
    assert evidence([outcome(np.zeros(2))] * 5, right) < ENOUGH
    assert evidence([outcome(None)] * 5, right) < ENOUGH
    assert evidence([outcome(np.full(2, np.nan))] * 5, right) < ENOUGH
    assert evidence([outcome(np.array([0.3, 0.8 + step])) for step in range(5)], right) >= ENOUGH


def test_an_argument_that_was_changed_is_a_part_of_the_outcome():
    def run(function):
        printed = io.StringIO()
        call = askedvalues.viva_packed((np.array([1.0, 2.0]),))
        with redirect_stdout(printed):
            askedvalues.viva_probe(function, askedvalues.json.dumps([[call, {"dict": []}]]))
        return read_outcomes(printed.getvalue())[0]

    def changing(x):
        x *= 2
        return x.sum()

    assert not agree(run(changing), run(lambda x: 2 * x.sum()), run(lambda x: 2 * x.sum()))


@pytest.mark.parametrize(
    "value", [1, 2.5, "a", None, (1, [2.0, "b"]), {"k": (1,)}, np.arange(6).reshape(2, 3), np.float32(2)]
)
def test_arguments_are_packed_and_unpacked(value):
    again = askedvalues.viva_unpacked(askedvalues.json.loads(askedvalues.json.dumps(askedvalues.viva_packed(value))))
    assert type(again) is type(value)
    assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value


def test_a_result_that_is_too_large_to_be_told_hides_no_other():
    """sinusoidal_positions(1000, 4) of ps6 has 4,000 numbers; what it gives for five positions is compared."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        askedvalues.viva_probe(lambda n: np.arange(n) / 2, '[[[4000], {"dict": []}], [[5], {"dict": []}]]')
    large, small = read_outcomes(printed.getvalue())
    assert large is None and small.numbers == (0.0, 0.5, 1.0, 1.5, 2.0)


def test_calls_with_functions_are_told_by_their_results_and_by_what_they_change():
    """numerical_gradient(function, x) of ps8: its arguments cannot be noted and sent again."""

    def fill(function, x):
        x[:] = [function(number) for number in x]
        if len(x) > 2:
            raise ValueError
        return sum(x)

    watched = askedvalues.viva_watching("fill", fill)
    assert watched(np.exp, [0.0, 0.0]) == 2
    with pytest.raises(ValueError):
        watched(np.exp, [0.0] * 3)
    printed = io.StringIO()
    with redirect_stdout(printed):
        askedvalues.viva_watched("fill")
    first, second = read_outcomes(printed.getvalue())
    assert first.numbers == (2.0, 1.0, 1.0) and "changed" in first.form
    assert second == Outcome(error="ValueError")
