"""A person's name is cut where its parts are, and nothing in it is obeyed by a page or a terminal."""

from __future__ import annotations

import pytest

from viva_term.lms.personname import cleaned, is_marred, parted

NAMES = {
    "King, Jr., Martin": ("Martin", "King, Jr."),
    "King, Jr.": ("", "King, Jr."),
    "Vi, Anna": ("Anna", "Vi"),
    "Doe, Jane": ("Jane", "Doe"),
    "Jane van Doe": ("Jane van", "Doe"),
    "Plato": ("", "Plato"),
    "": ("", ""),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_cut_into_first_and_last(name):
    assert parted(name) == NAMES[name]


@pytest.mark.parametrize("name", ["O’Neil", "Zoë 🙂", "שרה כהן", "علی\u200cرضا", 'von "Komma"'])  # noqa: RUF001
def test_a_name_of_any_language_stays_as_it_is(name):
    assert cleaned(name) == name and not is_marred(name)


@pytest.mark.parametrize("name", ["<b>x</b>", "a\x1b[2Jb", "a\u202eb", "a\nb"])
def test_nothing_in_a_name_is_obeyed(name):
    assert not set("<>\x1b\u202e\n") & set(cleaned(name))
