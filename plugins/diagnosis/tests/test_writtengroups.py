"""Which written answers read alike."""

from __future__ import annotations

from plugins.diagnosis.tests.course import WRITTEN
from viva_diagnosis.writtengroups import SHORTEST, Member, alike


def groups(texts: dict[str, str]) -> list[list[str]]:
    members = {Member(name, "key"): text for name, text in texts.items()}
    return [[member.student for member in group] for group in alike(members)]


def test_nearly_the_same_words_are_alike_and_other_numbers_or_thoughts_are_not():
    assert groups(WRITTEN) == [["anna", "carl", "fay"]]
    assert groups({"a": "The result of the sum is 4, as it was.", "b": "The result of the sum is 5, as it was."}) == []


def test_a_short_text_is_alike_with_none():
    assert groups(dict.fromkeys("ab", "y" * (SHORTEST - 1))) == []
    assert groups(dict.fromkeys("ab", "y" * SHORTEST)) == [["a", "b"]]


def test_no_chain_of_small_steps_leads_from_one_text_to_another():
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron".split()
    steps = {str(count): " ".join([*words[:-count], *["other"] * count]) for count in range(1, 11)}
    for members in groups(steps):
        assert int(members[-1]) - int(members[0]) <= 4
