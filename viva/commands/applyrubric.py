"""The command that carries changed rubric items into the comments and scores that were given with them."""

from __future__ import annotations

import sys

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Bool, Unicode

from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.commands.terminal import explained, figures, whole
from viva.course.gradebook import agreement, releases, rubric
from viva.course.gradebook.rubricfile import RubricFile
from viva.verdict import CourseError
from viva.wording import counted

SHOWN = 40
"""The number of listed students; --json names all."""


class RubricCommand(VivaCommand):
    name = "viva-rubric"
    arguments = "ASSIGNMENT"
    description = "List repeated comments, and update comments and scores where a rubric item has changed."
    examples = """
        viva rubric ps3_scaled_attention             the items, and whose score a changed one would change
        viva rubric ps3_scaled_attention --yes       do it without a question
        viva rubric ps3_scaled_attention --dry-run   only say it
        viva rubric ps3_scaled_attention --delete=mask   take an item out of the file, comments and scores
    """
    aliases = nbgrader_aliases | {"delete": "RubricCommand.delete"}
    flags = VivaCommand.flags | {
        "yes": ({"RubricCommand": {"yes": True}}, "Update without asking first."),
        "dry-run": ({"RubricCommand": {"dry_run": True}}, "Only show what would be updated."),
    }
    yes = Bool(False, help="Update without asking first.").tag(config=True)
    dry_run = Bool(False, help="Only show what would be updated.").tag(config=True)
    delete = Unicode("", help="Delete the item with this key.").tag(config=True)

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one assignment, as in: viva rubric ps3_scaled_attention")
        (assignment,) = self.chosen_assignments()
        agreement.require_kept(self.course, [assignment])
        releases.notebooks(self.course, assignment)
        old = RubricFile.read(path := rubric.path_of(self.course.root, assignment))
        new = old.without(self.delete) if self.delete in old.items else old
        items = list(new.items.values())
        with self.course.gradebook() as gradebook:
            used = rubric.counts(gradebook, assignment)
            planned = list(rubric.updates(gradebook, assignment, items, [self.delete]))
        if not old.items and not used:
            self._say(f"There are no items in {path}. Write some, as in:\n{rubric.FORM}")
            self.show_document(items=[], updates=[], written=0)
            return 0
        if self.delete and self.delete not in {*old.items, *used}:
            raise CourseError(f"No item has the key '{self.delete}': neither in {path}, nor in a comment.")
        table = explained("used: comments that have the item.", whole("key"), *figures("points", "used"), "text")
        for item in items:
            table.add_row(item.key, f"{item.points:+g}", str(used.get(item.key, 0) or ""), item.text)
        self.console.print(table)
        written = 0
        if planned or new != old:
            if planned:
                self._show(planned)
            if not self.dry_run and (self.yes or self._agreed(len(planned))):
                with self.alone(), self.course.gradebook() as gradebook, new.in_place_of(old):
                    written = len(rubric.apply(gradebook, assignment, planned))
                self._say(f"Updated: {counted(written, 'comment')}. Now: viva feedback {assignment}")
            else:
                self._say("Nothing was written.")
        else:
            self._say("All comments match the items in the file. There is nothing to update.")
        for key in sorted(used.keys() - new.items.keys() - {self.delete}):
            self._say(
                f"{counted(used[key], 'comment')} {'has' if used[key] == 1 else 'have'} the item '{key}', which is not "
                f"in the file. To delete it there, too: viva rubric {assignment} --delete={key}"
            )
        self.show_document(
            items=[vars(item) | {"used": used.get(item.key, 0)} for item in items],
            updates=[vars(update) for update in planned],
            written=written,
        )
        return 0

    def _show(self, planned: list[rubric.Update]) -> None:
        meanings = "old, new: the score. kept: a grader typed it. waits: a grader must score it again."
        table = explained(meanings, "student", "question", "item", *figures("old", "new"), "")
        for update in planned[:SHOWN]:
            note = "kept" if update.by_hand else ""
            names = plaintext.line(update.student), plaintext.line(update.cell), ", ".join(update.keys)
            table.add_row(*names, f"{update.old:g}", "waits" if update.score is None else f"{update.score:g}", note)
        if len(planned) > SHOWN:
            table.add_row(f"and {len(planned) - SHOWN} more")
        self.console.print(table)
        if any(update.by_hand for update in planned):
            self._say("A grader typed a score that is not the sum of its items. The score is kept. Check it.")
        if any(update.score is None for update in planned):
            self._say(
                "Without this item, the scores of some answers are counted in another way: points are added to 0, "
                "and not subtracted from the maximum, or the reverse. These answers wait for a grader again."
            )

    def _agreed(self, number: int) -> bool:
        """Whether the grader wants it; where nobody can be asked, not."""
        if not sys.stdin.isatty():
            self._say("To update them, add --yes.")
            return False
        self.console.print(f"Update {counted(number, 'comment')}, and their scores? [y/N] ", end="")
        return sys.stdin.readline().strip().lower() in ("y", "yes")
