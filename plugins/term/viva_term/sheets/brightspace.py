"""Scores for Brightspace: its two ids, one item, and the mark at the end of each line.

Names, addresses and final grades are not to be in the file, so it is made anew also where ``--into`` names what
Brightspace exported: that gives the ids, the item, the order of rows and the decimal mark. Whose cell would be blank is
left out, and keeps what is there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.table import csv_text, listed
from viva.verdict import CourseError
from viva_term.lms.systems import plain
from viva_term.sheets import number
from viva_term.sheets.identity import person_of
from viva_term.sheets.marks import Marks
from viva_term.sheets.sheet import Sheet
from viva_term.sheets.sheetexport import Line, Plan, SystemExport, Target, left_out

IDS = {"lms": "OrgDefinedId", "login": "Username"}
END, HASH = "End-of-Line Indicator", "#"
ITEM = re.compile(r"(?P<item>[\s\S]+) Points Grade(?: <(?P<details>[^>]*)>)?\s*")
MOST = re.compile(r"MaxPoints:(\d+(?:[.,]\d+)?)")
FOLLOWING = "In Brightspace: Grades, Enter Grades, Import; check the preview."


class BrightspaceExport(SystemExport):
    """The scores of one assignment for Brightspace."""

    title, key = "Brightspace", "brightspace"

    def fill(self, marks: Marks, plan: Plan) -> None:
        plan.following = FOLLOWING
        if self.into:
            self._from_sheet(marks, plan)
        else:
            self._from_roster(marks, plan)

    def _from_sheet(self, marks: Marks, plan: Plan) -> None:
        sheet = Sheet.read(Path(self.into))
        places = sheet.places("brightspace", (*IDS, "last", "first", "email"))
        ids = {ours: number_of_column for ours in IDS if (number_of_column := places[ours]) is not None}
        if not ids:
            raise CourseError(
                f"{self.into} is not a grades export of Brightspace: that has 'OrgDefinedId' or 'Username', "
                f"and this file has {listed(tuple(sheet.header))}. Export it in Brightspace: Grades, Enter Grades, "
                "Export."
            )
        sheet.require_width()
        number_of_column, item = self._item(sheet, marks.assignment)
        plan.column = item["item"]
        people = {}
        for line, row in sheet.rows.items():
            person = person_of(row, places)
            people[line] = replace(person, keys={key: cell.removeprefix(HASH) for key, cell in person.keys.items()})
        decimal = number.mark_in(
            [*(row[number_of_column] for row in sheet.rows.values()), *MOST.findall(item["details"] or "")]
        )
        target = Target(sheet, number_of_column, people, decimal or ".")
        cells = target.cells(marks, plan, lambda line, mark: "")
        rows = [[*(_hashed(sheet.rows[line][ids[ours]]) for ours in ids), cells[line]] for line in sorted(cells)]
        self._write([IDS[ours] for ours in ids], rows, plan)
        most = MOST.search(item["details"] or "")
        maximum = number.read(most[1]) if most else None
        plan.warnings += marks.warnings("The sheet", "", maximum)
        if maximum is not None and (over := [mark for mark in marks.scored if mark.points > maximum]):
            plan.warnings.append(
                f"Scores over the maximum of {number.written(maximum)}: {len(over)}. Brightspace lowers them to "
                "the maximum, unless the item is set to 'Can Exceed'."
            )

    def _item(self, sheet: Sheet, assignment: str) -> tuple[int, re.Match]:
        """The column of the assignment's item. Raises CourseError when none is it, or several."""
        items = {position: match for position, name in enumerate(sheet.header) if (match := ITEM.fullmatch(name))}
        wanted = plain(self.called(assignment) or assignment)
        matches = [
            (position, match)
            for position, match in items.items()
            if wanted in (plain(match["item"]), plain(match[0]), plain(f"{match['item']} Points Grade"))
        ]
        if len(matches) == 1:
            return matches[0]
        names = listed(tuple(match["item"] for match in items.values()), most=30)
        raise CourseError(
            f"{self.into} has {'several items' if matches else 'no item'} "
            f"{plaintext.quoted(self.called(assignment) or assignment)} with points. "
            + (f"The items are: {names}. " if items else "It has no items; export 'Points grade' of the item. ")
            + f"Name the item of {assignment} with --column='Item', or permanently in nbgrader_config.py: "
            f"c.SheetExport.columns = {{'{assignment}': 'Item'}}"
        )

    def _from_roster(self, marks: Marks, plan: Plan) -> None:
        name = self.called(marks.assignment) or marks.assignment
        match = ITEM.fullmatch(name)
        plan.column = match["item"] if match else name
        left_out(marks.by.values(), plan)
        keys = {"lms": "lms_user_id", "login": "login"}
        whole = [ours for ours, name in keys.items() if all(getattr(mark.entry, name) for mark in marks.scored)]
        if not whole:
            whole, keys = ["login"], {"login": "id"}
            plan.warnings.append(
                "The numbers and usernames of some students are unknown, so Viva's student ids are written as "
                "Username. Read Brightspace's grades export with 'viva roster', or name it with --into=FILE."
            )
        rows = []
        for mark in marks.scored:
            score = number.written(mark.points)
            rows.append([*(_hashed(getattr(mark.entry, keys[ours])) for ours in whole), score])
            plan.written.append(Line(mark.student, mark.entry.name, score))
        self._write([IDS[ours] for ours in whole], rows, plan)
        plan.warnings += marks.warnings("Brightspace")
        plan.warnings.append(
            f"The item in Brightspace must have the exact name {plaintext.quoted(plan.column)}. Brightspace lowers "
            "scores that are over its maximum. With --into=FILE, Viva checks both in the grades export."
        )

    def _write(self, ids: list[str], rows: list[list[str]], plan: Plan) -> None:
        head = [*ids, f"{plan.column} Points Grade", END]
        data = csv_text(head, ([*row, HASH] for row in rows), "\r\n", exact=True).encode()
        plan.write = lambda file: file.write(data)


def _hashed(key: str) -> str:
    """The id behind the mark that keeps spreadsheets from reading it as a number."""
    return key if key.startswith(HASH) else HASH + key
