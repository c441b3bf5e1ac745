"""What stands in the candidate for a function of a test."""

from __future__ import annotations

import inspect

import pytest

from viva.engine.dialogue.callback import function_of, parameters_of


class Recorder:
    """In the place of a Callback: gives what it was called with."""

    __name__ = "f"

    def __call__(self, /, *args, **kwargs):
        return args, kwargs


@pytest.mark.parametrize(
    ("function", "shown", "count"),
    [
        (lambda: 0, "()", 0),
        (lambda x, y: 0, "(x, y)", 2),
        (lambda x, /, y: 0, "(x, /, y)", 2),
        (lambda x, y=1: 0, "(x, y=Ellipsis)", 0),
        (lambda *x, y, z=1, **w: 0, "(*x, y, z=Ellipsis, **w)", 0),
    ],
)
def test_it_has_the_parameters_of_the_function(function, shown, count):
    made = function_of(Recorder(), parameters_of(function, hidden=False))
    assert str(inspect.signature(made)) == shown and made.__code__.co_argcount == count and inspect.isfunction(made)


def test_it_hands_on_what_it_is_called_with():
    assert function_of(Recorder(), parameters_of(lambda x, y: 0, hidden=False))(1, y=2) == ((1, 2), {})
    assert function_of(Recorder(), parameters_of(lambda x, y=1: 0, hidden=False))(1) == ((1,), {})
    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'y'"):
        function_of(Recorder(), parameters_of(lambda x, y: 0, hidden=False))(1)


def test_no_name_in_hidden_lines_is_told():
    rows = parameters_of(lambda secret, other: 0, hidden=True)
    assert not {"secret", "other"} & {name for name, _, _ in rows}
    made = function_of(Recorder(), rows)
    assert len(inspect.signature(made).parameters) == 2 and made(secret=1, other=2) == ((), {"secret": 1, "other": 2})


def test_what_is_no_function_of_pythons_has_no_parameters_to_tell():
    assert parameters_of([].append, hidden=False) is None and parameters_of(print, hidden=False) is None
