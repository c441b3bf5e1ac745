"""Which variant of an assignment a notebook is: whose seed it holds, and as whose it is graded."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader import utils

from viva.engine.blueprint import LINE, seed_in, with_seed
from viva.record import Note, note
from viva.submission.cells.places import Released
from viva.submission.studentcopy import digest
from viva.verdict import CourseError


@dataclass(frozen=True)
class Meant:
    """The release that a notebook is compared with; where there are variants, the seed that everybody's release has,
    the one that counts, and what a grader should know of that."""

    released: Released
    default: int | None = None
    seed: int | None = None
    note: Note | None = None


@dataclass(frozen=True)
class Seeds:
    """The seeds of an assignment ``by_student``, for one ``student`` who submitted something."""

    student: str
    by_student: Mapping[str, int]

    def meant(self, notebook: NotebookNode, released: Released) -> Meant:
        """What a submitted ``notebook``, as it was read, is graded as.

        A seed that was released counts, whoever's it is, as all that was computed follows from it; any other number
        is an edit, and the student's own seed counts. Raises CourseError for who has none.
        """
        default = next((seed for slot in released.slots if (seed := _seed_of(slot.cell)) is not None), None)
        if default is None:
            return Meant(released)
        if self.student not in self.by_student:
            raise CourseError(
                f"The variant of the student '{self.student}' is unknown, because the student was added after the "
                "assignment's material was read. Run the command again."
            )
        own, (found, certain) = self.by_student[self.student], self._handed_in(notebook, released)
        owners = sorted(student for student, seed in self.by_student.items() if seed == found)
        seed, told = own, None
        if found not in (None, own):
            if owners:
                seed, told = found, note("variant_of", *owners)
            elif found == default:
                seed, told = found, Note("no_variant")
            elif certain:
                told = note("unknown_seed", str(found))
        if seed == default:
            return Meant(released, default, seed, told)
        return Meant(Released(seeded(released.notebook, seed), released.beside), default, seed, told)

    def _handed_in(self, notebook: NotebookNode, released: Released) -> tuple[int | None, bool]:
        """The seed in a submitted notebook, and whether it stands where the release has it.

        Where the release's cell is not certain, a line of any cell may be it.
        """
        names = {
            name for slot in released.slots if _seed_of(slot.cell) is not None for name in (slot.name, slot.cell.id)
        }
        texts = [cell.source for cell in notebook.cells]
        own = [cell.source for cell in notebook.cells if {_grade_id(cell), cell.get("id")} & names]
        found = [(int(line["seed"]), source in own) for source in (*own, *texts) for line in LINE.finditer(source)]
        return found[0] if found else (None, False)


def seeded(notebook: NotebookNode, seed: int) -> NotebookNode:
    """A copy of a released notebook with another seed; the cell does not count as edited, here or in nbgrader."""
    notebook = copy.deepcopy(notebook)
    digests = notebook.metadata.get("viva", {}).get("check", {}).get("cells", {})
    for cell in notebook.cells:
        if _seed_of(cell) is not None:
            cell.source = with_seed(cell.source, seed)
            if "checksum" in cell.metadata.nbgrader:
                cell.metadata.nbgrader["checksum"] = utils.compute_checksum(cell)
            if _grade_id(cell) in digests:
                digests[_grade_id(cell)] = digest(cell.source)
    return notebook


def _seed_of(cell: NotebookNode) -> int | None:
    """The seed in a released cell, if it is the one that offers variants."""
    given = cell.cell_type == "code" and utils.is_locked(cell) and not utils.is_grade(cell)
    return seed_in(cell.source) if given else None


def _grade_id(cell: NotebookNode) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")
