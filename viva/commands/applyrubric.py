"""The command that carries changed rubric items into the comments and scores that were given with them."""

from __future__ import annotations

import sys

from nbgrader.apps.baseapp import nbgrader_aliases
from rich.table import Table
from traitlets import Bool

from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.commands.terminal import figures, whole
from viva.course.gradebook import agreement, releases, rubric
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
    """
    aliases = nbgrader_aliases
    flags = VivaCommand.flags | {
        "yes": ({"RubricCommand": {"yes": True}}, "Update without asking first."),
        "dry-run": ({"RubricCommand": {"dry_run": True}}, "Only show what would be updated."),
    }
    yes = Bool(False, help="Update without asking first.").tag(config=True)
    dry_run = Bool(False, help="Only show what would be updated.").tag(config=True)

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one assignment, as in: viva rubric ps3_scaled_attention")
        (assignment,) = self.chosen_assignments()
        agreement.require_kept(self.course, [assignment])
        releases.notebooks(self.course, assignment)
        path = rubric.path_of(self.course.root, assignment)
        items = rubric.read_items(path)
        if not items:
            self._say(f"There are no items in {path}. Write some, as in:\n{rubric.FORM}")
            self.show_document(items=[], updates=[], written=0)
            return 0
        with self.course.gradebook() as gradebook:
            used = rubric.counts(gradebook, assignment)
            planned = list(rubric.updates(gradebook, assignment, items))
        table = Table(whole("key"), *figures("points", "used"), "text")
        for item in items:
            table.add_row(item.key, f"{item.points:+g}", str(used.get(item.key, 0) or ""), item.text)
        self.console.print(table)
        written = 0
        if planned:
            self._show(planned)
            if not self.dry_run and (self.yes or self._agreed(len(planned))):
                with self.alone(), self.course.gradebook() as gradebook:
                    written = len(rubric.apply(gradebook, assignment, planned))
                self._say(f"Updated: {counted(written, 'comment')}. Now: viva feedback {assignment}")
            else:
                self._say("Nothing was written.")
        else:
            self._say("All comments match the items in the file. There is nothing to update.")
        self.show_document(
            items=[vars(item) | {"used": used.get(item.key, 0)} for item in items],
            updates=[vars(update) for update in planned],
            written=written,
        )
        return 0

    def _show(self, planned: list[rubric.Update]) -> None:
        table = Table("student", "question", "item", *figures("old", "new"), "")
        for update in planned[:SHOWN]:
            note = "kept" if update.by_hand else ""
            names = plaintext.line(update.student), plaintext.line(update.cell), ", ".join(update.keys)
            table.add_row(*names, f"{update.old:g}", f"{update.score:g}", note)
        if len(planned) > SHOWN:
            table.add_row(f"and {len(planned) - SHOWN} more")
        self.console.print(table)
        if any(update.by_hand for update in planned):
            self._say("A grader typed a score that is not the sum of its items. The score is kept. Check it.")

    def _agreed(self, number: int) -> bool:
        """Whether the grader wants it; where nobody can be asked, not."""
        if not sys.stdin.isatty():
            self._say("To update them, add --yes.")
            return False
        self.console.print(f"Update {counted(number, 'comment')}, and their scores? [y/N] ", end="")
        return sys.stdin.readline().strip().lower() in ("y", "yes")
