"""Variants of an assignment: the seed in a notebook, whose it is, and as whose the notebook is graded."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nbformat import NotebookNode
from nbgrader import utils

from viva.engine.blueprint import Blueprint
from viva.engine.examination import Examination
from viva.notebook.cell import Purpose, grade_id
from viva.notebook.names import names_in, names_of
from viva.notebook.syntax import constants_in, statements_of
from viva.record import Note, note
from viva.submission.cells.places import Released
from viva.submission.studentcopy import digest
from viva.verdict import BlueprintError, CourseError

# --- the line by which a notebook offers variants: ``viva_seed = 20261``, in a read-only cell that nobody may change

# The number is the default. A student's variant has another in its place, and nothing else is different: whatever the
# assignment draws from ``viva_seed``, hidden tests compute it again from the same names.


SEED = "viva_seed"
LINE = re.compile(
    r"""
    ^ (?P<head> viva_seed [ \t]* = [ \t]* )
    (?P<seed> [0-9] (?: _? [0-9] ){0,17} )  # longer ones are nobody's
    (?= [ \t]* (?: \#.* )? \r? $ )
    """,
    re.MULTILINE | re.VERBOSE,
)


def seed_in(source: str) -> int | None:
    """The seed that a cell's text gives, if it does."""
    line = LINE.search(source)
    return int(line["seed"]) if line else None


def with_seed(source: str, seed: int) -> str:
    """A cell's text with another seed; one that gives none stays as it is."""
    return LINE.sub(lambda line: f"{line['head']}{seed}", source)


def default_of(blueprint: Blueprint) -> int | None:
    """The seed of an instructor's notebook as everybody gets it; None where it offers no variants.

    Raises BlueprintError where another seed could not be put in, or would not count.
    """
    code = [cell for cell in blueprint.cells if cell.code]
    binding = [cell for cell in code if SEED in _bound(cell.source) or seed_in(cell.source) is not None]
    if not binding:
        return None
    cell, where = binding[0], f"{blueprint.name}, cell '{binding[0].id}'"
    if len(binding) > 1:
        cells = ", ".join(f"'{cell.id}'" for cell in binding[1:])
        raise BlueprintError(
            f"{where}: {SEED} is set here and also in {cells}. Set it in only one line, in a read-only cell."
        )
    if cell.purpose != Purpose.READ_ONLY or not cell.locked:
        raise BlueprintError(
            f"{where}: {SEED} is set in a cell that students can change, so Viva cannot write the student's seed "
            "there. Move this line into a read-only cell without points."
        )
    statements = [node for node in statements_of(cell.source) if SEED in names_in(node).bound]
    numbers = [number for _, number in constants_in(statements) if type(number) is int]
    if len(statements) != 1 or len(LINE.findall(cell.source)) != 1 or numbers != [seed_in(cell.source)]:
        raise BlueprintError(
            f"{where}: the value of {SEED} must be a whole number. Write this line once: '{SEED} = 20261'."
        )
    return seed_in(cell.source)


def _bound(source: str) -> set[str]:
    names = names_of(source)
    return names.bound if names else set()


# --- the variant of a student


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
                f"The variant of the student '{self.student}' is unknown, because the student was added while this "
                "command ran. Run the command again."
            )
        own_seed, (seed_handed_in, certain) = self.by_student[self.student], self._handed_in(notebook, released)
        owners = sorted(student for student, seed in self.by_student.items() if seed == seed_handed_in)
        seed, remark = own_seed, None
        if seed_handed_in not in (None, own_seed):
            if owners:
                seed, remark = seed_handed_in, note("variant_of", *owners)
            elif seed_handed_in == default:
                seed, remark = seed_handed_in, Note("no_variant")
            elif certain:
                remark = note("unknown_seed", str(seed_handed_in))
        if seed == default:
            return Meant(released, default, seed, remark)
        return Meant(Released(seeded(released.notebook, seed), released.beside), default, seed, remark)

    def _handed_in(self, notebook: NotebookNode, released: Released) -> tuple[int | None, bool]:
        """The seed in a submitted notebook, and whether it stands where the release has it.

        Where the release's cell is not certain, a line of any cell may be it.
        """
        names = {
            name for slot in released.slots if _seed_of(slot.cell) is not None for name in (slot.name, slot.cell.id)
        }
        texts = [cell.source for cell in notebook.cells]
        seed_cells = [cell.source for cell in notebook.cells if {grade_id(cell), cell.get("id")} & names]
        lines = [(line, source) for source in (*seed_cells, *texts) for line in LINE.finditer(source)]
        seeds = [(int(line["seed"]), source in seed_cells) for line, source in lines]
        return seeds[0] if seeds else (None, False)


def seeded(notebook: NotebookNode, seed: int) -> NotebookNode:
    """A copy of a released notebook with another seed; the cell does not count as edited, here or in nbgrader."""
    notebook = copy.deepcopy(notebook)
    digests = notebook.metadata.get("viva", {}).get("check", {}).get("cells", {})
    for cell in notebook.cells:
        if _seed_of(cell) is not None:
            cell.source = with_seed(cell.source, seed)
            if "checksum" in cell.metadata.nbgrader:
                cell.metadata.nbgrader["checksum"] = utils.compute_checksum(cell)
            if grade_id(cell) in digests:
                digests[grade_id(cell)] = digest(cell.source)
    return notebook


def examined(examination: Examination, seed: int) -> Examination:
    """An examination with another seed in the read-only cells; what the solution showed holds for every seed."""
    cells = (
        replace(cell, source=with_seed(cell.source, seed)) if cell.purpose == Purpose.READ_ONLY else cell
        for cell in examination.blueprint.cells
    )
    return replace(examination, blueprint=replace(examination.blueprint, cells=tuple(cells)))


def _seed_of(cell: NotebookNode) -> int | None:
    """The seed in a released cell, if it is the one that offers variants."""
    read_only = cell.cell_type == "code" and utils.is_locked(cell) and not utils.is_grade(cell)
    return seed_in(cell.source) if read_only else None
