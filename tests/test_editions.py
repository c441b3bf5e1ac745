"""An older release is one by whose contract scores could differ, and nothing is said where nothing is known."""

from __future__ import annotations

import msgspec

from viva.editions import CURRENT, FACTS, Facts, older


def write(place, edition: str, ground: str) -> None:
    (place / edition).mkdir(parents=True)
    facts = Facts("ps1", edition, "2026-11-28T10:00:00+00:00", "cells", "source", ground=ground)
    (place / edition / FACTS).write_bytes(msgspec.json.encode(facts))
    (place / CURRENT).write_text(f"{edition}\n")


def test_an_edition_that_gives_the_same_scores_is_not_called_older(tmp_path):
    assert older(tmp_path, ["first"]) == 0, "without a contract nothing is known"
    for edition, ground in (("first", "tests"), ("new-text", "tests")):
        write(tmp_path, edition, ground)
    assert older(tmp_path, ["first", "first", "new-text", ""]) == 0
    write(tmp_path, "corrected", "other tests")
    assert older(tmp_path, ["first", "first", "new-text", "corrected", ""]) == 3
    assert older(tmp_path, ["gone"]) == 1
