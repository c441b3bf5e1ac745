from __future__ import annotations

import pytest

from viva.verdict import AnswerError
from viva_audit.auditresult import Excuse, Fate, excuse, read_excuses


def test_a_survivor_is_excused_by_its_change_or_its_operator_in_its_own_cell_and_no_other_mutant_is():
    changes = [("f", "a -> b", "survived"), ("f", "a -> c", "survived"), ("g", "a -> b", "survived")]
    fates = [Fate(cell, "other axis", change, "", status) for cell, change, status in changes]
    fates.append(Fate("f", "other axis", "a -> d", "", "killed"))
    excuses = [
        Excuse("f", "taught in week five", ("a -> b",)),
        Excuse("g", "no student does it", operator="other axis"),
    ]
    assert excuse(fates, excuses) == []
    assert [fate.status for fate in fates] == ["excused", "survived", "excused", "killed"]
    assert [fate.note for fate in fates] == ["taught in week five", "", "no student does it", ""]


def test_an_excuse_that_no_survivor_fits_is_named():
    fates = [Fate("f", "other axis", "a -> b", "", "killed")]
    excuses = [Excuse("f", "taught in week five", ("a -> b",))]
    assert excuse(fates, excuses) == ["No mutant matches the excuse 'taught in week five'. Remove the excuse."]
    assert fates[0].status == "killed"


def test_an_excuse_stays_where_this_machine_proves_its_mutant_equivalent():
    fates = [Fate("f", "other axis", "a -> b", "", "equal")]
    assert excuse(fates, [Excuse("f", "only rounding tells them apart", ("a -> b",))]) == []
    assert fates[0].status == "equal"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[excuse]\n", "not valid TOML"),
        ('[[excuse]]\ncell = "a"\nreason = "it is really fine"\n', "either 'changes' or 'operator'"),
        ('[[excuse]]\ncell = "a"\noperator = "b"\nreason = "fine"\n', "the reason 'fine' is too short"),
    ],
)
def test_an_excuse_must_be_one(tmp_path, text, message):
    (tmp_path / "excused.toml").write_text(text)
    with pytest.raises(AnswerError, match=message):
        read_excuses(tmp_path / "excused.toml")
