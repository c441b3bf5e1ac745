"""What stands in the candidate for a function of a test."""

from __future__ import annotations

import inspect

import pytest

from viva.engine.dialogue.objects import function_of
from viva.engine.dialogue.references import parameters_of


class Recorder:
    """In the place of a Callback: gives what it was called with."""

    __name__ = "f"

    def __call__(self, /, *args, **kwargs):
        return args, kwargs


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lambda: 0, "()"),
        (lambda secret, y: 0, "(_0, _1)"),
        (lambda x, /, y: 0, "(_0, /, _1)"),
        (lambda x, y=1: 0, "(_0, _1=Ellipsis)"),
        (lambda *x, y, z=1, **w: 0, "(*_0, _1, _2=Ellipsis, **_3)"),
    ],
)
def test_it_has_as_many_parameters_as_the_function_and_no_name_of_the_tests(function, shown):
    made = function_of(Recorder(), parameters_of(function), None)
    assert str(inspect.signature(made)) == shown and inspect.isfunction(made)


def test_it_hands_on_what_it_is_called_with():
    made = function_of(Recorder(), parameters_of(lambda x, y: 0), None)
    assert made(1, y=2) == ((1,), {"y": 2}) and made(1) == ((1,), {})


def test_what_is_no_function_of_pythons_has_no_parameters_to_tell():
    assert parameters_of([].append) is None and parameters_of(print) is None
