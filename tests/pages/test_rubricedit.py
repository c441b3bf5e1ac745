"""A rubric item edited on a grader's page: what it would do, what it does, and how it is taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import OperationalError

from tests.pages import test_groupcomment
from viva.course.gradebook import rubric
from viva.course.gradebook.rubricfile import RubricFile
from viva.pages import rubricedit
from viva.pages.rubricedit import Deletion, Edit, Move, Outcome, Undoing
from viva.pages.sentvalues import RefusedError
from viva.verdict import CourseError

ITEMS = """[[item]]
key = "mask"
points = -1       # as last year
text = "The mask is missing."

[[item]]
key = "sign"
points = -0.5
text = "The sign is wrong."
"""
MASK, SIGN = "* -1: The mask is missing. [mask]", "* -0.5: The sign is wrong. [sign]"


class Desk(test_groupcomment.Desk):
    """A gradebook with one question of 3 points, and a rubric; ada's page is open."""

    def __init__(self, gradebook: Gradebook, root: Path) -> None:
        super().__init__(gradebook)
        self.root, self.path = root, rubric.path_of(root, "ps")
        self.path.parent.mkdir()
        self.path.write_text(ITEMS)
        self.comment("ada", MASK, 2)
        self.comment("bea", f"{MASK}\nSee page 3.\n{SIGN}", 1.5)
        self.comment("cleo", MASK, 3)  # typed
        self.comment("dan", SIGN, 2.5)

    def edit(self, points: float = -2, text: str = "The mask is missing.", **more) -> Outcome:
        asked = {"seen": self.version, "points": points, "text": text, "key": "mask", "save": True} | more
        return rubricedit.edit(self.gradebook, self.of("ada"), self.root, Edit(**asked))

    def take_back(self, outcome: Outcome, seen: str | None = None) -> Outcome:
        """As the page does it, with what the page has got."""
        sent = msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome)
        asked = Undoing(outcome.seen if seen is None else seen, file=sent.file, changes=sent.changes)
        return rubricedit.take_back(self.gradebook, self.of("ada"), self.root, asked)

    @property
    def version(self) -> str:
        return RubricFile.read(self.path).version

    @property
    def all(self) -> list:
        return [*map(self.saved, test_groupcomment.STUDENTS), self.path.read_text()]


@pytest.fixture
def desk(tmp_path) -> Iterator[Desk]:
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        yield Desk(gradebook, tmp_path)


SENTENCES = {
    (-2, "The mask is missing."): "2 scores change by -1, 1 score typed by a grader stays.",
    (-9, "No mask."): "1 score changes by -2, 1 score changes by -1.5, 1 score typed by a grader stays.",
    (-1, "No mask."): "2 scores stay, 1 score typed by a grader stays.",
}


def test_first_it_is_said_what_changes_and_nothing_is_written(desk):
    before = desk.all
    for values, sentence in SENTENCES.items():
        assert desk.edit(*values, save=False).sentence == f"3 answers have this item: {sentence}"
    assert desk.edit(-1, save=False).sentence == "3 answers have this item. Nothing changes."
    assert desk.edit(-1, "Other.", key="", cell="why", save=False).sentence == "No answer has this item yet."
    desk.gradebook.db.expire_all()
    assert desk.all == before


def test_a_saved_item_changes_the_file_and_all_who_have_it_as_the_command_does_and_is_taken_back_in_one_step(desk):
    before = desk.all
    outcome = desk.edit(-2, "No mask.")
    new = "* -2: No mask. [mask]"
    assert outcome.sentence == "Saved. 3 answers changed." and outcome.items[0]["line"] == new
    assert desk.all == [
        (new, 1), (f"{new}\nSee page 3.\n{SIGN}", 0.5), (new, 3), (SIGN, 2.5),
        ITEMS.replace("points = -1 ", "points = -2 ").replace("The mask is missing.", "No mask."),
    ]  # fmt: skip
    assert list(rubric.updates(desk.gradebook, "ps", rubric.read_items(desk.path))) == [], "nothing is left to do"
    assert not {*test_groupcomment.STUDENTS} & {*re.findall(r"\w+", str(outcome))}, "names stay hidden"
    assert desk.take_back(outcome).sentence == "Undone in 3 answers."
    assert desk.all == before


def test_a_typed_score_and_a_waiting_answer_are_as_before_when_an_edit_is_taken_back(desk):
    desk.comment("cleo", MASK, 1.0)  # typed; the new item makes the same
    grade = desk.gradebook.find_grade("why", "n", "ps", "ada")
    grade.needs_manual_grade = True  # a new submission with another answer
    desk.gradebook.db.commit()
    outcome = desk.edit(-2)
    assert desk.saved("ada")[1] == 1 and grade.needs_manual_grade
    assert desk.take_back(outcome).answers == 3 and desk.saved("cleo") == (MASK, 1.0)
    assert desk.saved("ada")[1] == 2 and grade.needs_manual_grade


def test_what_changed_since_stays_and_the_page_says_so(desk):
    outcome = desk.edit(-2)
    desk.comment("bea", "Come and see me.", 3)
    assert desk.take_back(outcome).sentence == (
        "Undone in 2 answers. 1 answer changed since then: nothing was undone there."
    )
    assert desk.saved("bea") == ("Come and see me.", 3)


def test_a_new_item_gets_a_key_stands_in_the_file_and_goes_again(desk):
    outcome = desk.edit(-1, "Name the axis.", key="", cell="why")
    assert (outcome.items[-1]["key"], outcome.sentence) == ("name-the-axis", "Saved.")
    assert rubric.read_items(desk.path)[-1] == rubric.Item("name-the-axis", -1, "Name the axis.", "why")
    assert desk.take_back(outcome).sentence == "Undone." and desk.path.read_text() == ITEMS
    desk.path.unlink()
    outcome = desk.edit(-1, "Name the axis.", key="", cell="why", seen="")
    assert desk.path.read_text().startswith("[[item]]\n")
    desk.take_back(outcome)
    assert not desk.path.exists()


def delete(desk: Desk, key: str, save: bool = True) -> Outcome:
    asked = Deletion(desk.version, key=key, save=save)
    return rubricedit.delete(desk.gradebook, desk.of("ada"), desk.root, asked)


def test_a_deleted_item_goes_from_all_who_have_it_and_comes_back_in_one_step(desk):
    before = desk.all
    sentence = "3 answers have this item: 2 scores change by +1, 1 score typed by a grader stays."
    assert delete(desk, "mask", save=False).sentence == sentence and desk.all == before
    outcome = delete(desk, "mask")
    assert outcome.sentence == "Deleted. 3 answers changed." and [one["key"] for one in outcome.items] == ["sign"]
    assert desk.all[:4] == [("", 3), (f"See page 3.\n{SIGN}", 2.5), ("", 3), (SIGN, 2.5)]
    assert [one.key for one in rubric.read_items(desk.path)] == ["sign"]
    assert desk.take_back(outcome).sentence == "Undone in 3 answers." and desk.all == before


def test_where_an_answer_is_left_with_points_that_count_from_the_other_end_a_grader_decides(desk):
    desk.path.write_text(ITEMS + '\n[[item]]\nkey = "idea"\npoints = 1\ntext = "A good idea."\n')
    idea = "* +1: A good idea. [idea]"
    desk.comment("bea", f"{MASK}\n{idea}", 3)  # 3 - 1 + 1
    desk.comment("cleo", idea, 1)
    before = desk.all
    outcomes = [delete(desk, "mask", save=False), delete(desk, "idea", save=False)]
    assert [one.sentence for one in outcomes] == [
        "2 answers have this item: 1 score changes by +1, 1 answer waits for a grader again.",
        "2 answers have this item: 1 score changes by -1, 1 answer waits for a grader again.",
    ]
    outcome = delete(desk, "idea")
    assert (desk.saved("bea"), desk.saved("cleo")) == ((MASK, 2), ("", None))
    assert desk.gradebook.find_grade("why", "n", "ps", "cleo").needs_manual_grade
    desk.take_back(outcome)
    assert desk.all == before and not desk.gradebook.find_grade("why", "n", "ps", "cleo").needs_manual_grade


def test_an_item_takes_the_place_of_another_one_and_goes_back(desk):
    before = desk.all
    asked = Move(desk.version, key="sign", place="mask")
    outcome = rubricedit.move(desk.gradebook, desk.of("ada"), desk.root, asked)
    assert [one["key"] for one in outcome.items] == ["sign", "mask"] == [*RubricFile.read(desk.path).items]
    assert outcome.sentence == "Moved." and desk.all[:4] == before[:4]
    assert desk.take_back(outcome).sentence == "Undone." and desk.all == before


REFUSED = {
    "rubrics/ps.toml was changed after you opened this page": {"seen": "0"},
    "ps.toml was changed after": {"seen": ""},
    "has no item 'none'": {"key": "none"},
    "the points of 'mask' are 1000000.0": {"points": 1e6},
    "the text of 'mask' must be one line": {"text": "a\n[[item]]"},
    "'mask' must be one line": {"text": "\0"},
}


def test_what_cannot_be_saved_is_refused_and_nothing_changes(desk):
    before = desk.all
    for sentence, values in REFUSED.items():
        for save in (False, True):
            with pytest.raises(CourseError, match=re.escape(sentence)):
                desk.edit(save=save, **values)
            desk.gradebook.db.rollback()
    assert desk.all == before


def test_a_fault_while_it_is_taken_back_leaves_file_and_gradebook_as_they_are(desk):
    outcome = desk.edit(-2)
    after = desk.all
    score, outcome.changes[1].score_before = outcome.changes[1].score_before, 1e5
    with pytest.raises(RefusedError, match="must be a number from 0 to 3"):
        desk.take_back(outcome)
    desk.gradebook.db.rollback()
    assert desk.all == after
    outcome.changes[1].score_before, outcome.changes[2].id = score, "nothing"
    with pytest.raises(MissingEntry):
        desk.take_back(outcome)
    desk.gradebook.db.rollback()
    assert desk.all == after
    with pytest.raises(CourseError, match="was changed after you opened this page"):
        desk.take_back(outcome, seen="0")


def test_a_locked_gradebook_leaves_the_file_alone_and_after_a_kill_saving_again_does_the_rest(desk, tmp_path):
    before = desk.all
    asked = Edit(points=-2, text="No mask.", key="mask", seen=desk.version, save=True)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as other:
        other.db.connection().exec_driver_sql("PRAGMA busy_timeout = 0")
        other.db.rollback()
        desk.gradebook.db.connection().exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            rubricedit.edit(other, other.find_submission_notebook("n", "ps", "ada"), tmp_path, asked)
    desk.gradebook.db.rollback()
    assert desk.all == before

    RubricFile.read(desk.path).changed("mask", -2, "No mask.").write()  # and then the server was killed
    assert desk.edit(-2, "No mask.", save=False).answers == 3
    assert desk.edit(-2, "No mask.").sentence == "Saved. 3 answers changed." and desk.saved("ada")[1] == 1
