"""Pseudonyms stay the same, tell nothing, and stand wherever a name did."""

from __future__ import annotations

import os
import stat

import pytest

from viva.pages.reporting.pseudonyms import Pseudonyms, key_in
from viva.verdict import CourseError


@pytest.fixture
def names() -> Pseudonyms:
    return Pseudonyms(b"key", ["anna", "bo", "k-1234", "anna.b"], ["Lovelace", "ada@example.org", ""])


def test_without_a_key_nothing_changes():
    plain = Pseudonyms(None, ["anna"])
    assert plain.of("anna") == "anna"
    assert plain.text("anna said so") == "anna said so"


def test_a_pseudonym_depends_on_student_and_key_alone(names):
    assert names.of("anna") == Pseudonyms(b"key").of("anna") != names.of("bo")
    assert names.of("anna") != Pseudonyms(b"other").of("anna")
    assert "anna" not in names.of("anna")


@pytest.mark.parametrize(
    "text", ["anna", "/home/anna/x", "NAME = 'Anna'", "anna_2", "(k-1234)", "by lovelace", "ada@example.org"]
)
def test_names_in_texts_are_replaced(names, text):
    shown = names.text(text).lower()
    assert not any(name in shown for name in ("anna", "1234", "lovelace", "ada"))


def test_the_longest_name_that_fits_is_replaced(names):
    assert names.text("anna.b wrote") == f"{names.of('anna.b')} wrote"


def test_words_that_hold_a_name_and_names_too_short_to_tell_stay(names):
    assert names.text("savanna, bo, annabel") == "savanna, bo, annabel"


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "report" / "pseudonyms.key"
    assert key_in(path) == key_in(path)
    assert len(key_in(path)) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_a_full_disk_left_empty_is_made_anew(tmp_path):
    path = tmp_path / "pseudonyms.key"
    path.touch(mode=0o600)
    assert len(key_in(path)) == 64


def test_beside_a_page_a_key_that_somebody_else_put_there_is_refused(tmp_path):
    path, elsewhere = tmp_path / "pseudonyms.key", tmp_path / "elsewhere"
    assert key_in(path, private=True) == key_in(path, private=True)
    elsewhere.write_text("planted\n")
    path.unlink()
    path.symlink_to(elsewhere)
    with pytest.raises(CourseError, match="this file is a link or belongs to another user"):
        key_in(path, private=True)
    if os.geteuid() == 0:
        path.unlink()
        path.write_text("planted\n")
        os.chown(path, 12345, 12345)
        with pytest.raises(CourseError, match="this file is a link or belongs to another user"):
            key_in(path, private=True)
        assert key_in(path) == b"planted", "in the course, colleagues share one"
