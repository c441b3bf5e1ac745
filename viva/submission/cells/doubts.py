"""Doubts: cells of a repaired submission that a grader should check, where their tests do not pass.

Theory of operation. The repair keeps what a student did in its place. What remains is of few kinds: an answer does not
give a name that its tests ask for, and something that does not run before them seems to; one of several versions
counts; an answer uses what only a cell below it gives; it fits to read-only cells or tests as they were edited; it
could not run; a question is blank while a text or a cell beside it may be its answer; a part of the file
was lost. Each doubt names the test cells that it may cost. Verdicts do not depend on it: such a test cell earns what it
earns, and waits for a grader when that is not everything. A cell in which a student tried something out is not a doubt,
whatever it binds, where the answer gives the same names, unless it defines the answer's function again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from itertools import pairwise

from msgspec import structs

from viva.notebook.cell import ANSWERS, Purpose
from viva.notebook.names import names_of
from viva.notebook.programming import PYTHON
from viva.notebook.statements import acts, constants_alone, lone_names, only_defines, returns_outside, runs
from viva.notebook.stubs import is_behind_stub, redone_functions, undone_functions
from viva.notebook.syntax import imports_in, statements_of
from viva.record import Note, note
from viva.submission.cells.cellmatching import Doubt, Match, doubted
from viva.submission.cells.handout import trees
from viva.submission.cells.places import Piece, Slot, about
from viva.submission.cells.texts import (
    NAME,
    begins_inside,
    bound_names,
    given_names,
    has_line_of_code,
    is_prose,
    squeezed,
    used_names,
    words,
)

WORDS = 60
"""Characters of a text anywhere in a notebook that may be an answer, though the cell for it was left as released."""
_HERE = {"time", "capture", "prun"}
"""Cell magics that run the cell in the notebook itself."""
_PLATFORMS = ("google.colab", "kaggle_datasets", "kaggle_secrets", "micropip", "piplite", "pyodide", "pyodide_js")
"""Modules that only Colab, Kaggle and JupyterLite have."""
_MAGIC = re.compile(r"\A\s*%%(\w+)[^\n]*")


def doubts_of(match: Match, damaged: bool = False) -> list[Note]:
    """The doubts about a matching; ``damaged`` says that a part of the file could not be read.

    Each names the tests of the answers that it is about, and of those that use what these give.
    """
    doubts, notes = _Doubts(match, damaged), []
    for doubt in doubts.all():
        tests = {test for slot in doubts.with_users(doubt.slots) for test in match.released.tests_of(slot)}
        notes.append(structs.replace(doubt.note, tests=tuple(sorted(tests))))
    return notes


class _Doubts:
    def __init__(self, match: Match, damaged: bool) -> None:
        self.match, self.damaged = match, damaged
        self.slots, self.chosen, self.extras = match.slots, match.chosen, match.extras
        self.answers = [slot for slot in self.slots if slot.purpose in ANSWERS and slot.is_code]
        self.filled = [slot for slot in self.answers if not match.is_blank(slot)]
        self.index = {piece: number for number, piece in enumerate(match.pieces)}
        edited = [(slot, piece) for slot, piece in self.chosen.items() if piece.squeezed != slot.squeezed]
        self.owner = {self.chosen[slot]: slot for slot in self.filled}
        """The answers by their pieces."""
        self.code = [*self.extras, *self.owner, *(piece for slot, piece in edited if slot.purpose == Purpose.OPEN)]
        """The student's own code, in answers or beside them, and texts."""
        self.code.sort(key=self.index.__getitem__)
        self.edited = {slot: piece for slot, piece in edited if slot.locked and slot.is_code}
        """The read-only cells and tests that the student changed,"""
        self.texts = {slot: piece for slot, piece in edited if not slot.is_code}
        """and the texts, with written answers."""

    def all(self) -> Iterator[Doubt]:
        yield from self.match.unsure
        lacking = list(self._lacking())
        yield from lacking
        yield from self._versions()
        yield from self._without_names()
        yield from self._halves()
        yield from self._uses_below()
        yield from self._beside_blanks()
        yield from self._written_into_others(lacking)
        yield from self._not_run()
        yield from self._below_platform()
        yield from self._edited()
        yield from self._parts_of_given()
        yield from self._written()
        if self._was_rebuilt():
            yield Doubt(Note("rebuilt", doubt=True), tuple(self.answers))
        lost = tuple(slot for slot in self.slots if slot.answers and self.match.is_blank(slot))
        if lost and self.damaged:
            yield doubted("may_be_lost", *lost)
        elif lost and self._was_emptied():
            yield Doubt(Note("emptied", doubt=True), lost)

    def with_users(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        """Some answers, and those below that use what they or read-only cells give, or names that nobody gives."""
        users = list(slots)
        names: set[str] = set()
        for slot in self.slots:
            if slot in self.filled and names and slot not in users:
                users += [slot] if names & self.chosen[slot].uses or self._wanting(slot) else []
            if slot in users and slot.purpose in ANSWERS:
                names |= slot.own | (self.chosen[slot].gives if slot in self.chosen else set())
            elif slot.purpose == Purpose.READ_ONLY and slot.is_code and names & used_names(slot.source, slot.language):
                names |= slot.gives
        return tuple(users)

    def _tested(self, slot: Slot) -> int:
        """The place in the file of the first test that asks for an answer."""
        tests = [test for test in self.slots[slot.place :] if test.purpose == Purpose.TESTS and test in self.chosen]
        return min((self.index[self.chosen[test]] for test in tests[:1]), default=len(self.index))

    def _wanting(self, slot: Slot) -> set[str]:
        """The names that an answer uses, and that no cell of the instructor's and none above it gives."""
        piece = self.chosen[slot]
        above = self.match.pieces[: self.index[piece]]
        wanting = piece.uses.difference(*(slot.gives for slot in self.slots), *(upper.gives for upper in above))
        # In another language the rest may be names of its library: what nobody gives, nobody has to.
        return wanting if piece.is_python else wanting.intersection(set().union(*(cell.gives for cell in self.code)))

    def _beyond(self, piece: Piece) -> set[str]:
        """The names that a cell gives beside what is expected of it."""
        slot = self.owner.get(piece)
        names = piece.binds if piece.is_code else self._shown_names(piece)
        return names - (slot.own | slot.expects if slot else set())

    def _own_code(self, piece: Piece) -> list[str]:
        """The code in a text, without what was released."""
        handout = self.match.handout
        return [text for text in piece.code if not handout.has_code(text) and not handout.has_text(text)]

    def _shown_names(self, piece: Piece) -> set[str]:
        """The names that the code in a text gives."""
        return {name for text in self._own_code(piece) for name in bound_names(text, piece.language)}

    def _lacking(self) -> Iterator[Doubt]:
        """Answers that lack names when their tests run, while another cell seems to give these names."""
        holders: dict[Piece, list[Slot]] = {}
        for slot in self.answers:
            piece = self.chosen.get(slot)
            elsewhere = [cell for cell in self.code if cell is not piece and not self.match.was_handed_out(cell)]
            lacking = self._lacked(slot, elsewhere)
            for candidate in elsewhere:
                owner = self.owner.get(candidate)
                beyond = candidate.binds - owner.own if owner else self._beyond(candidate)
                # Names are used twice: another answer has to give all of them, and where it stands in
                # a cell with an answer whose own cell is gone, each may undo the other.
                both = owner and slot not in self.chosen and slot.own <= beyond
                gives = both or (lacking <= beyond if owner else lacking & beyond)
                if both or (lacking and (gives or _seems_to_give(candidate, lacking))):
                    holders.setdefault(candidate, []).extend([slot, owner] if owner and both else [slot])
            for below, text in self.edited.items():
                if lacking & (text.binds - given_names(below.source, below.language)):
                    holders.setdefault(text, []).append(slot)
            for text in self.texts.values() if lacking else ():
                shown = self._shown_names(text)
                # If the answer's cell is gone, it may have been merged into a text.
                if lacking & shown or (slot not in self.chosen and _seems_to_give(text, lacking, loosely=True)):
                    holders.setdefault(text, []).append(slot)
        for piece, slots in holders.items():
            yield doubted("may_belong", *dict.fromkeys(slots), numbers=(piece.number,))

    def _lacked(self, slot: Slot, elsewhere: list[Piece]) -> set[str]:
        """The names of an answer that neither it nor a cell of the student's has given when its tests run."""
        piece, tested = self.chosen.get(slot), self._tested(slot)
        bound = piece.binds if piece and piece.is_code else set()
        undone = undone_functions(slot.source if piece is None or slot not in self.filled else piece.source)
        before = [cell for cell in elsewhere if cell.is_code and self.index[cell] < tested and cell.runs]
        # A blank stub does not undo what a cell of the student's own above it gives (``repair``).
        blank = slot not in self.filled
        above = self.index[piece] if piece else -1
        below = [cell for cell in before if self.index[cell] > above or (blank and cell in self.extras)]
        lacking = slot.own.difference(bound, undone).difference(*map(self._beyond, before))
        return set(lacking) | (slot.own & undone).difference(*map(self._beyond, below))

    def _versions(self) -> Iterator[Doubt]:
        """Answers with another version in a cell of the student's. Both run, and either may be meant."""
        doubted_slots = {slot for doubt in self.match.unsure for slot in doubt.slots}
        for slot in [slot for slot in self.filled if slot not in doubted_slots]:
            chosen, nameless = self.chosen[slot], slot in self.match.by_text
            for piece in [piece for piece in self.extras if piece.is_code and not self.match.was_handed_out(piece)]:
                again = piece.binds & chosen.binds & slot.defines
                below = self.index[piece] > self.index[chosen]
                either = nameless and slot.own and slot.own <= piece.binds
                if either or (again and (below or nameless)):
                    yield doubted("may_belong", slot, numbers=(piece.number,))

    def _without_names(self) -> Iterator[Doubt]:
        """A cell that was taken for an answer without an identity, and gives none of the names that this has to give:
        a scratch cell beside the place of an answer, say, whose code was merged into a text."""
        for slot in self.filled:
            piece = self.chosen[slot]
            if slot.own and self.match.identified(piece) is not slot and slot.own.isdisjoint(piece.binds):
                yield doubted("may_belong", slot, numbers=(piece.number,))

    def _halves(self) -> Iterator[Doubt]:
        """Answers below which a cell of the student's begins in the middle of a block, as if it was the rest."""
        code = [piece for piece in self.extras if piece.is_code and piece.is_python]
        for piece in [piece for piece in code if begins_inside(piece.source)]:
            above = [slot for slot in self.filled if self.index[self.chosen[slot]] < self.index[piece]]
            for slot in above[-1:]:
                yield doubted("may_belong", slot, numbers=(piece.number,))

    def _uses_below(self) -> Iterator[Doubt]:
        """Answers that use names of a cell of the student's below, as if cells had run in another order."""
        asked: set[str] = set()
        for slot in self.answers:
            if slot in self.filled:
                position, tested, wanting = self.index[self.chosen[slot]], self._tested(slot), self._wanting(slot)
                names = names_of(self.chosen[slot].source) if slot.language == PYTHON else None
                at_once = names.used if names else set()
                for piece in [piece for piece in self.code if self.index[piece] > position]:
                    late = wanting if self.index[piece] > tested else wanting & at_once
                    if piece.gives & (late - asked if piece in self.owner else late):
                        yield doubted("uses_below", slot)
                        break
            asked |= slot.expects

    def _beside_blanks(self) -> Iterator[Doubt]:
        """Blank answers beside which a cell of the student's may be the answer, by whatever names.

        It is where nothing tells which cell is the answer's, where a grader reads the answer, and where other answers
        use what the cell gives.
        """
        used = set().union(*(self.chosen[slot].uses for slot in self.filled))
        cells = [piece for piece in self.extras if piece.is_code and piece.copy_of is None and piece.squeezed]
        cells = [piece for piece in cells if not self.match.was_handed_out(piece)]
        for slot in [slot for slot in self.answers if self.match.is_blank(slot)] if cells else ():
            if slot.purpose != Purpose.MANUAL and not self._lacked(slot, self.code):
                continue
            low, high = self.match.between(slot)
            first, last = self.match.between(slot, ANSWERS)
            sure = slot in self.chosen and slot.purpose != Purpose.MANUAL
            for piece in cells:
                beside = first < self.index[piece] < last and piece.gives & used
                if beside or (not sure and low < self.index[piece] < high):
                    yield doubted("may_be_answer", slot, numbers=(piece.number,))

    def _written_into_others(self, by_name: list[Doubt]) -> Iterator[Doubt]:
        """Blank answers between whose neighbours the student wrote code into a text or a read-only cell.

        The doubts ``by_name`` are not repeated. Other names tell nothing: code in a text may bind them in any way.
        Where the answer's cell is gone, all new lines of the course's cells count but prose. Where its stub is there,
        only lines of code in texts count, unless their names tell whose they are: in a read-only cell a student may
        try another number.
        """
        doubted_slots = {slot for doubt in by_name for slot in doubt.slots}
        attributed = {number for doubt in by_name for number in doubt.note.numbers}
        blank = [slot for slot in self.answers if self.match.is_blank(slot) and slot not in doubted_slots]
        blank = [slot for slot in blank if slot.purpose == Purpose.MANUAL or self._lacked(slot, self.code)]
        if not blank:
            return
        course = {*self.edited.values(), *(piece for slot, piece in self.texts.items() if not slot.answers)}
        texts = {*self.texts.values(), *(piece for piece in self.extras if not piece.is_code)}
        new = {piece: self._new_lines(piece) for piece in sorted(course | texts, key=self.index.__getitem__)}
        code = [piece for piece in new if piece in texts and has_line_of_code(new[piece])]
        where_gone = [p for p in new if p in code or (p in course and new[p] and not is_prose(new[p]))]
        for slot in blank:
            first, last = self.match.between(slot, ANSWERS)
            pieces = [p for p in code if p.number not in attributed] if slot in self.chosen else where_gone
            if numbers := [piece.number for piece in pieces if first < self.index[piece] < last]:
                yield doubted("may_be_answer", slot, numbers=tuple(dict.fromkeys(numbers)))

    def _new_lines(self, piece: Piece) -> str:
        """The lines of a cell that stand nowhere in what was released."""
        return "\n".join(line for line in piece.source.splitlines() if not self.match.handout.has_text(line))

    def _not_run(self) -> Iterator[Doubt]:
        """Answers that were submitted as texts and are not code, and answers that could not run."""
        for slot in self.filled:
            piece = self.chosen[slot]
            if not piece.is_python:
                continue  # nobody here can read it
            if piece.was and not runs(piece.source):
                yield doubted("answered_in_text", slot)
                continue
            if piece.refused and not runs(piece.source):
                continue  # nobody damaged what the student saw refused
            if why := why_not_run(piece.source, slot, self._wanting(slot)):
                kind, *names = why
                yield Doubt(note(kind, *names, cells=(slot.name,), doubt=True), (slot,))

    def _below_platform(self) -> Iterator[Doubt]:
        """Answers that use names which the student's own cell binds below a line that could not run."""
        for piece in [piece for piece in self.extras if piece.is_code and piece.is_python]:
            platform, below = of_platform(piece.source)
            released = [slot.gives for slot in self.slots]
            typed = [cell.gives for cell in self.code if cell is not piece]
            names = given_names(below).difference(*released, *typed) if platform else set()
            if users := tuple(slot for slot in self.filled if names & _needed(self.chosen[slot])):
                yield Doubt(note("own_platform", platform, numbers=(piece.number,), doubt=True), users)

    def _edited(self) -> Iterator[Doubt]:
        """Answers that fit the edited read-only cells or tests, and not the released ones."""
        for slot in self.filled if self.edited else ():
            piece = self.chosen[slot]
            available = set().union(
                *(each.gives for each in self.slots), *(each.gives for each in self.code if each is not piece)
            )
            for locked, text in self.edited.items():
                if names := _needed(piece) & text.gives - available:
                    cells = (slot.name, locked.name)
                    yield Doubt(note("uses_edited", *sorted(names), cells=cells, doubt=True), (slot,))
            tests = self.match.released.tests_of(slot)
            asked = [text.words - words(locked.source) for locked, text in self.edited.items() if locked.name in tests]
            new = piece.binds.intersection(set().union(*asked))
            if new and slot.own - piece.binds:
                yield Doubt(note("renamed", *sorted(new), cells=(slot.name,), doubt=True), (slot,))

    def _parts_of_given(self) -> Iterator[Doubt]:
        """Answers below a cell that seems to be the rest of a read-only cell, which was edited and cut in two.

        The read-only cell is put back whole, so the rest of it runs a second time, and what it draws at random differs.
        """
        cells = [piece for piece in self.extras if piece.is_code and not only_defines(piece.source)]
        edited = [slot for slot in self.edited if slot.purpose == Purpose.READ_ONLY]
        for slot in edited if cells else ():
            lacking = set(trees(slot.source)).difference(trees(self.edited[slot].source))
            for piece in cells:
                below = [answer for answer in self.filled if self.index[self.chosen[answer]] > self.index[piece]]
                if below and not lacking.isdisjoint(trees(piece.source)):
                    yield Doubt(about("given_twice", slot, numbers=(piece.number,), doubt=True), tuple(below))

    def _written(self) -> Iterator[Doubt]:
        """Blank written answers, where a text of the student's stands beside, or a longer one anywhere."""
        blank = [slot for slot in self.slots if slot.answers and not slot.is_code and self.match.is_blank(slot)]
        beside: dict[Piece, list[Slot]] = {}
        for slot in blank:
            low, high = self.match.between(slot) if self.match.is_anchored() else (0, 0)
            for piece in self.match.pieces[low + 1 : high]:
                text = piece in self.extras and not piece.is_code and not acts(piece.source)
                if text and self.match.is_text_of_ones_own(piece, least=1):
                    beside.setdefault(piece, []).append(slot)
            for neighbour in (self.slots[slot.place - 1], *self.slots[slot.place + 1 : slot.place + 2]):
                if (
                    neighbour in self.texts
                    and not neighbour.answers
                    and not self.match.handout.has_text(_added(self.texts[neighbour], neighbour))
                ):
                    beside.setdefault(self.texts[neighbour], []).append(slot)
        identified = any(slot in self.chosen for slot in blank)
        texts = [p for p in self.extras if self.match.is_text_of_ones_own(p, least=WORDS if identified else 20)]
        if len(texts) > 1 and not self.match.is_anchored():
            texts = []  # a book's own, in a notebook without the question
        for piece in sorted({*beside, *texts}, key=self.index.__getitem__) if blank else ():
            yield doubted("may_be_answer", *beside.get(piece, blank), numbers=(piece.number,))

    def _was_rebuilt(self) -> bool:
        """Whether answers without identity stood in another order, or some of them nowhere: any may be wrong."""
        places = [self.index[self.chosen[slot]] for slot in self.answers if slot in self.chosen]
        lost = bool(self.filled) and any(slot in self.match.by_text for slot in self.answers)
        return lost and (places != sorted(places) or len(places) < len(self.answers))

    def _was_emptied(self) -> bool:
        """Whether more than half of the locked code that has any text came as empty cells."""
        locked = [slot for slot in self.slots if slot.locked and slot.is_code and slot.squeezed]
        empty = [slot for slot in locked if slot in self.chosen and not self.chosen[slot].squeezed]
        return 2 * len(empty) > len(locked)


def _seems_to_give(piece: Piece, names: Set[str], loosely: bool = False) -> bool:
    """Whether a cell that has a syntax error defines one of some names, or, where it is none of text, binds it."""
    binding = loosely or piece.cell_type != "markdown"
    return piece.is_python and not runs(piece.source) and not names.isdisjoint(_seemingly_bound(piece.source, binding))


def _seemingly_bound(source: str, binding: bool) -> set[str]:
    """The functions that lines define, and with ``binding`` the names that stand before an equals sign."""
    bound = set(re.findall(r"\bdef (\w+)", source))
    for line in source.splitlines() if binding else ():
        parts = line.split("=")
        for part, value in pairwise(parts):
            bound |= set(NAME.findall(part)) if value or value is parts[-1] else set()
    return bound


def _added(piece: Piece, slot: Slot) -> str:
    """The lines of a text that are not those of the released one."""
    lines = set(map(squeezed, slot.source.splitlines()))
    return "\n".join(line for line in piece.source.splitlines() if squeezed(line) not in lines)


def _needed(piece: Piece) -> set[str]:
    """The names that a cell uses, also where it gives them anew."""
    if not piece.is_python:
        return piece.uses
    names = names_of(piece.source)
    return names.needed if names else set()


# Why an answer never ran, though it may be right


def why_not_run(source: str, slot: Slot, unknown: Set[str] = frozenset()) -> tuple[str, ...]:
    """The reason why an answer did not run, or nothing. ``unknown`` are the names that no cell gives.

    It is the kind of a note, and what the note names.
    """
    if (magic := _MAGIC.match(source)) and magic[1] not in _HERE:
        return "other_magic", magic[1]
    source = source[magic.end() :] if magic else source
    if not runs(source) or returns_outside(source):
        return ("not_python",)
    if _is_commented_out(source, slot):
        return ("commented_out",)
    lines = [
        name for name in lone_names(source) if name in unknown and re.search(rf"^{name}\s*$", source, re.MULTILINE)
    ]
    if lines:
        return "stray_line", lines[0]
    if is_behind_stub(source):
        return ("below_stub",)
    if again := redone_functions(source) & slot.own:
        return "above_stub", min(again)
    platform, _ = of_platform(source)
    return ("platform", platform) if platform else ()


def of_platform(source: str) -> tuple[str, str]:
    """The module of another platform that code imports, and what stands below that, which never runs; or nothing."""
    for node in statements_of(source)[:-1]:
        for module in (one.path for one in imports_in([node])):
            for name in _PLATFORMS:
                if f"{module}.".startswith(f"{name}."):
                    return name, "\n".join(source.split("\n")[node.end_lineno :])
    return "", ""


def _is_commented_out(source: str, slot: Slot) -> bool:
    """Whether what gives a name of the answer stands behind ``#`` or between quotes, and nothing else does anything."""
    if (constants := constants_alone(source)) is None:
        return False
    text = "\n".join(map(str, constants)) or re.sub(r"^[ \t]*#+ ?", "", source, flags=re.MULTILINE)
    return bool(slot.own & bound_names(text)) and runs(text)
