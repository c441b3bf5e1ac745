"""Scores for Canvas's gradebook: in a copy of the file that it exported, or in a small new file.

Canvas finds students by ID, SIS User ID, SIS Login ID, then the exact name, and an assignment by the number behind its
title. It takes a blank for a change where a score was, so no cell is ever emptied; it reads ``EX`` as excused.
"""

from __future__ import annotations

import re
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.table import csv_text, listed
from viva.verdict import CourseError
from viva_term.lms.participants import POINTS, is_heading, test_students
from viva_term.lms.systems import SYSTEMS, plain
from viva_term.sheets import number
from viva_term.sheets.feedbackzip import answer_archive
from viva_term.sheets.identity import person_of
from viva_term.sheets.marks import Mark, Marks
from viva_term.sheets.sheet import Sheet
from viva_term.sheets.sheetexport import Line, Plan, SystemExport, Target, left_out

EXCUSED, UNASSIGNED = "EX", "N/A"
COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
NUMBERED = re.compile(r"(?P<title>[\s\S]*) \((?P<id>\d+)\)")
DROPPED = re.compile(r"(?:Final|Current|Override) (?:Score|Points|Grade)", re.IGNORECASE)
"""A column whose name holds this is taken for one of Canvas's totals."""
DEDUCTS = "If the Canvas course has a late policy, Canvas subtracts late penalties again from imported scores."
FOLLOWING = "In Canvas: Grades, Import; check the list of changes."


class CanvasExport(SystemExport):
    """The scores of one assignment for Canvas."""

    title, key = "Canvas", "canvas"

    def fill(self, marks: Marks, plan: Plan) -> None:
        plan.following = FOLLOWING
        if self.into:
            self._merge(marks, plan)
        else:
            self._minimal(marks, plan)
        if dropped := DROPPED.search(plan.column):
            plan.warnings.append(
                f"Canvas ignores a column with '{dropped[0]}' in its name, as in "
                f"{plaintext.quoted(plan.column)}. Rename the assignment in Canvas, and export again."
            )

    def hand_back(self, course: Course, marks: Marks, plan: Plan) -> None:
        if self.into or not self.archive:
            raise CourseError(
                "Canvas needs its own zip of the submissions: open the assignment in Canvas, choose Download "
                "Submissions, and name that zip with --archive=FILE, without --into."
            )
        plan.following = "In Canvas: open the assignment, SpeedGrader's menu or its page, Upload Submissions."
        answer_archive(Path(self.archive), course, marks, plan)

    def _merge(self, marks: Marks, plan: Plan) -> None:
        sheet = Sheet.read(Path(self.into))
        places = _places(sheet)
        target_place = self._column(sheet, marks.assignment)
        plan.column = sheet.header[target_place]
        rows = sheet.rows
        if short := [line for line, row in rows.items() if len(row) <= target_place]:
            raise CourseError(
                f"Line {short[0]} of {self.into} ends before the column {plaintext.quoted(plan.column)}. Export "
                "the file again."
            )
        points = next((row[target_place] for row in rows.values() if POINTS in row[0]), "")
        people = {line: person_of(row, places) for line, row in rows.items() if not is_heading(row)}
        for line in test_students({line: (person.name, person.keys) for line, person in people.items()}):
            del people[line]
        cells = [row[position] for row in rows.values() for position in _assignments(sheet) if position < len(row)]
        target = Target(sheet, target_place, people, number.mark_in(cells) or ".", EXCUSED)

        def refusal(line: int, mark: Mark) -> str:
            before = rows[line][target_place].strip()
            if before == UNASSIGNED:
                return "the assignment is not assigned to the student in Canvas (N/A)"
            return "the student is excused in Canvas (EX); enter the score there" if before.upper() == EXCUSED else ""

        changed = sheet.changed(target_place, target.cells(marks, plan, refusal))
        plan.write = lambda file: file.write(changed)
        plan.warnings += marks.warnings("The sheet", DEDUCTS, number.read(points))

    def _column(self, sheet: Sheet, assignment: str) -> int:
        """Which column is the assignment's. Raises CourseError when none is, or several."""
        wanted = plain(self.called(assignment) or assignment)
        columns = _assignments(sheet)
        numbers = {position: match for position in columns if (match := NUMBERED.fullmatch(sheet.header[position]))}
        for names in (
            {position: sheet.header[position] for position in columns},
            {position: match["title"] for position, match in numbers.items()},
            {position: match["id"] for position, match in numbers.items()},
        ):
            matches = [position for position, name in names.items() if plain(name) == wanted]
            if len(matches) == 1:
                return matches[0]
            if matches:
                break
        shown = listed(tuple(sheet.header[position] for position in matches or columns), most=30)
        fault = "several columns" if matches else "no column"
        raise CourseError(
            f"{self.into} has {fault} {plaintext.quoted(self.called(assignment) or assignment)}. "
            + (
                f"The assignments are: {shown}. "
                if columns
                else "It has no assignment. Create one in Canvas, then export again. "
            )
            + f"Name the column of {assignment} with --column='Title (1234)', or permanently in nbgrader_config.py: "
            f"c.SheetExport.columns = {{'{assignment}': 'Title (1234)'}}"
        )

    def _minimal(self, marks: Marks, plan: Plan) -> None:
        plan.column = self.called(marks.assignment) or marks.assignment
        rows = [[f"    {POINTS}", "", "", "", "", number.written(marks.maximum)]]
        unknown = 0
        for mark in marks.by.values():
            cell = EXCUSED if mark.excused else number.written(mark.score) if mark.score is not None else ""
            if not cell:
                continue
            entry = mark.entry
            unknown += not (entry.lms_user_id or entry.sis or entry.login)
            name = ", ".join(filter(None, (entry.last_name, entry.first_name))) or entry.id
            keys = (plaintext.guarded(name), entry.lms_user_id, entry.sis, entry.login, entry.section)
            rows.append([*keys, cell])
            plan.written.append(Line(mark.student, entry.name, cell))
        left_out((mark for mark in marks.by.values() if not mark.excused), plan)
        data = csv_text([*COLUMNS, plan.column], rows, exact=True).encode()
        plan.write = lambda file: file.write(data)
        if unknown:
            plan.warnings.append(
                f"Canvas's number and the login of {unknown} students are unknown, so Canvas finds these students by "
                "their exact names. Read Canvas's gradebook with 'viva roster', or name it with --into=FILE."
            )
        if not NUMBERED.fullmatch(plan.column):
            plan.warnings.append(
                f"Canvas puts the scores into the assignment with the exact title {plaintext.quoted(plan.column)}. "
                "If there is none, Canvas offers to create it. To name the assignment by its number: --column='Title "
                "(1234)'"
            )
        plan.warnings += marks.warnings("Canvas", DEDUCTS)


def _places(sheet: Sheet) -> dict[str, int | None]:
    """By our names, where the columns about students are. Raises CourseError when no gradebook of Canvas's is it."""
    places = sheet.places("canvas", SYSTEMS["canvas"].columns)
    if places["section"] is None or places["lms"] is None or (places["name"] is None and places["last"] is None):
        raise CourseError(
            f"{sheet.path} is not a gradebook export of Canvas: that has the columns 'Student', 'ID' and 'Section', "
            f"and this file has {listed(tuple(sheet.header))}. Export it in Canvas: Grades, Export."
        )
    return places


def _assignments(sheet: Sheet) -> list[int]:
    """The columns of assignments."""
    section = sheet.place({"section"}) or 0
    return [position for position, name in enumerate(sheet.header) if position > section and NUMBERED.fullmatch(name)]
