"""Scores as systems write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from viva_term.sheets import number


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0.0, "0"), (10.0, "10"), (100.0, "100"), (7.5, "7.5"), (0.005, "0.01"), (0.004999, "0"), (1.005, "1.01"),
        (2.675, "2.68"), (1.65 - 1.65 * 0.1, "1.49"),
        (0.1 + 0.2, "0.3"), (1.1 + 2.2 + 0.005, "3.31"), (1e-12, "0"), (1 / 3, "0.33"), (9.995, "10"),
        (-0.125, "-0.13"),
    ],
)  # fmt: skip
def test_half_a_hundredth_is_rounded_up_also_where_a_float_falls_short_of_it(score, text):
    assert number.written(number.rounded(score)) == text
    assert number.written(number.rounded(score), ",") == text.replace(".", ",")


@pytest.mark.parametrize(
    ("cell", "value"),
    [("7.5", "7.5"), (" 7,50 ", "7.5"), ("1,234", "1.234"), ("10", "10"), ("", None), ("EX", None), ("1.234,5", None)],
)
def test_the_last_mark_stands_before_decimals(cell, value):
    assert number.read(cell) == (None if value is None else Decimal(value))


def test_the_mark_of_most_cells_is_the_sheets_and_thousands_tell_nothing():
    assert number.mark_in(["7,5", "10,00", "8.5", ""]) == ","
    assert number.mark_in(["7.5", "x,5", "EX"]) == "."
    assert number.mark_in(["10", "1,234", "(read only)"]) == ""
