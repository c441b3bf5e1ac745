"""The seams of a submission: where several cells became one, and one became several.

Released texts are found line by line, across the borders of cells. Code that is whole only together
belongs together. A text that holds several answers is cut between its statements, so that each answer
gets the names that its tests ask for.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from viva.submission.cells.places import Piece, Slot
from viva.submission.cells.texts import blocks, bound_names, is_definition, parses, squeezed, tree_of, words

NEAR = 4
"""So many cells further the rest of a piece of code is looked for."""
MOST_STATEMENTS = 200
MOST_PARTS = 100
"""So many cells are joined to one."""
_IMPORT = re.compile(r"^(?:import|from)\s", re.MULTILINE)
_CHANGED = re.compile(
    r"""
    \b ([^\W\d]\w*)
    (?: \. (?:append|extend|insert|update|add|fill|sort) \( | \[[^\]\n]*\] \s* [-+*/]?=(?!=) )
    """,
    re.VERBOSE,
)
"""A name whose object a statement changes in place."""
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FENCE = re.compile(
    r"""
    \s* ``` [ \t]* (?: python | py | ipython3? )? [ \t]* \n
    (.*)                                                     # what is between
    \n [ \t]* ``` \s*
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def goes_on(piece: Piece) -> bool:
    """Whether a piece begins in the middle of a block."""
    first = next((line for line in piece.source.splitlines() if line.strip()), "")
    return first[:1] in (" ", "\t")


def unfenced(piece: Piece) -> Piece:
    """A text that is nothing but a fenced block of code, as that code; also in a code cell, where it cannot run."""
    fence = _FENCE.fullmatch(piece.source)
    if not fence or "```" in fence[1]:
        return piece
    return replace(piece, cell_type="code", source=fence[1], fenced=piece.source)


def code_in(piece: Piece) -> str:
    """The code of a cell, also of one that is a text."""
    return "\n".join(piece.code)


def unfolded(piece: Piece) -> list[Piece]:
    """A text that holds code, as texts and code."""
    found = blocks(piece.source)
    parts = [piece.part(text, keep=not place) for place, (_, text) in enumerate(found)]
    for part, (code, _) in zip(parts, found, strict=True):
        part.cell_type = "code" if code else piece.cell_type
    return parts


# Released texts


def runs_of(slots: Iterable[Slot], pieces: list[Piece]) -> dict[Slot, list[tuple[int, int]]]:
    """Where the lines of each slot's text stand one after the other: the piece and the line of each."""
    stream = [
        (text, place, number)
        for place, piece in enumerate(pieces)
        for number, line in enumerate(piece.source.splitlines())
        if (text := squeezed(line))
    ]
    starts: dict[str, list[int]] = {}
    for index, (text, _, _) in enumerate(stream):
        starts.setdefault(text, []).append(index)
    runs, used = {}, set()
    for slot in slots:
        wanted = [text for line in slot.source.splitlines() if (text := squeezed(line))]
        for start in starts.get(wanted[0], ()):
            run = stream[start : start + len(wanted)]
            where = [line[1:] for line in run]
            if [line[0] for line in run] == wanted and used.isdisjoint(where):
                runs[slot] = where
                used.update(where)
                break
    return runs


def segments(piece: Piece, owner: dict[int, Slot]) -> Iterator[tuple[Slot | None, str]]:
    """The lines of a piece, grouped by the slot that each belongs to."""
    whose, lines = None, []
    for number, line in enumerate(piece.source.splitlines()):
        whose = owner.get(number) if line.strip() else whose
        lines.append((whose, line))
    for slot, group in itertools.groupby(lines, key=lambda line: line[0]):
        text = "\n".join(line for _, line in group).strip("\n")
        if text.strip():
            yield slot, text


# Code that belongs together


def belong_together(one: str, other: str) -> bool:
    """Whether two pieces of code are whole together and not each alone."""
    return not (parses(one) and parses(other)) and put_together(one, other) is not None


@functools.lru_cache(maxsize=512)
def put_together(one: str, other: str) -> str | None:
    """Two pieces of code as one that is whole, in which what the second begins with can be reached.

    The second goes on where the first ends, or where a definition in it ends below which another one was pasted.
    """
    if tree_of(f"{one}\n{other}") is None:
        return None
    lines = one.splitlines()
    ends = [len(lines)]
    if other[:1] in (" ", "\t") and (tree := tree_of(one)):
        ends += [node.end_lineno for node in reversed(tree.body[-NEAR:-1]) if isinstance(node, _BLOCKS)]
    for end in ends:
        tree = tree_of("\n".join([*lines[:end], other, *lines[end:]]))
        if tree and _reached(tree, end + 1, end + other.count("\n") + 1):
            return "\n".join([*lines[:end], other, *lines[end:]])
    return None


def _reached(tree: ast.Module, first: int, last: int) -> bool:
    """Whether the first statement that begins in these lines is not below one that always leaves its block."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            for above, below in itertools.pairwise(block if isinstance(block, list) else ()):
                if above.lineno < first <= below.lineno <= last and isinstance(above, _LEAVING):
                    return False
    return True


def groups_of(code: list[Piece]) -> list[list[Piece]]:
    """Pieces of code in the order of the file, those together that are one text."""
    groups: list[_Group] = []
    for piece in code:
        group = next((group for group in reversed(groups[-NEAR:]) if group.takes(piece.source)), None)
        beside = bool(groups) and piece.number - groups[-1].pieces[-1].number <= 1
        if group is None and goes_on(piece) and beside and groups[-1].is_open(piece.source):
            group = groups[-1]  # the next one may make it whole, and if not, nothing is worse for it
        if group is None:
            groups.append(_Group([piece], piece.source))
        else:
            group.add([piece], piece.source)
    for early in [group for group in groups if goes_on(group.pieces[0])]:
        place = groups.index(early)
        late = next((group for group in groups[place + 1 : place + 1 + NEAR] if group.takes(early.text)), None)
        if late:
            late.add(early.pieces, early.text)
            groups.remove(early)
    return [group.pieces for group in groups]


@dataclass(eq=False)
class _Group:
    """Pieces that are one text."""

    pieces: list[Piece]
    text: str

    def takes(self, source: str) -> bool:
        return len(self.pieces) < MOST_PARTS and belong_together(self.text, source)

    def is_open(self, source: str) -> bool:
        """Whether the text is not whole yet, with this below it."""
        return len(self.pieces) < MOST_PARTS and not parses(f"{self.text}\n{source}")

    def add(self, pieces: list[Piece], source: str) -> None:
        self.pieces += pieces
        self.text = put_together(self.text, source) or f"{self.text}\n{source}"


def text_of(pieces: Iterable[Piece], between: str = "\n") -> str:
    """The text of pieces that are one, each put where it belongs."""
    first, *rest = (piece.source for piece in pieces)
    for source in rest:
        first = (put_together(first, source) if between == "\n" else None) or f"{first}{between}{source}"
    return first


def changed_names(source: str) -> set[str]:
    """The names whose objects code seems to change in place."""
    return set(_CHANGED.findall(source))


# Texts that hold several answers


def statements(source: str) -> list[str]:
    """The statements of a text, each with the comments and empty lines above it."""
    tree = tree_of(source)
    if tree is None or not tree.body:
        return [source]
    lines = source.splitlines()
    pairs = itertools.pairwise(tree.body)  # what stands behind a semicolon is of the same line
    ends = [node.end_lineno for node, following in pairs if first_line(following) > node.end_lineno]
    return ["\n".join(lines[start:end]) for start, end in itertools.pairwise([0, *ends, len(lines)])]


def _in_common(parts: list[str]) -> list[int]:
    """How many names stand both above and below each place between statements."""
    names = [words(part) for part in parts]
    above = [set(), *itertools.accumulate(names, set.union)]
    below = [set(), *itertools.accumulate(reversed(names), set.union)][::-1]
    return [len(one & other) for one, other in zip(above, below, strict=True)]


def first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def parted(slots: list[Slot], source: str, keeper: Slot, unnamed: list[Slot]) -> dict[Slot, str]:
    """A text cut between its statements into an answer to each of some slots, in their order, where it has one.

    The cut is made where most of the names are given that the slots' tests ask for; of equal places above a
    statement that gives a name, as others may change what stands above them; then where an empty line stands; then
    where the two sides have the fewest names in common.
    ``keeper``, whose cell it was, keeps all of its names, or the text is not cut. One of ``unnamed``, which stand
    nowhere else, may get statements that give other names.
    """
    parts = statements(source)
    if not 1 < len(parts) <= MOST_STATEMENTS:
        return {}
    names = [bound_names(part) for part in parts]
    whole = keeper.own & set().union(*names)
    alone = keeper.own.difference(*(slot.own for slot in slots if slot is not keeper))
    touching = [place for place, part in enumerate(parts) if alone & (names[place] | changed_names(part))]
    common = _in_common(parts)
    best: dict[int, tuple[float, tuple[tuple[Slot, int], ...]]] = {0: (0.0, ())}
    for slot in slots:
        marks = [bool(slot.mark) and slot.mark in part for part in parts]
        after = dict(best)
        for start in sorted(best, reverse=True):
            value, cuts = best[start]
            below = 0 < start < len(parts) and not parts[start].partition("\n")[0].strip()
            if 0 < start < len(parts):
                value += 0.02 * bool(names[start] or _IMPORT.search(parts[start])) + 0.01 * below
                value -= 0.001 * min(9, common[start])
            have, marked = set(), False
            for end in range(start + 1, len(parts) + 1):
                have |= names[end - 1] & slot.own
                marked |= marks[end - 1]
                worth = value + len(have) / max(1, len(slot.own)) + marked
                other = (
                    slot in unnamed and (start == 0 or below) and bool(names[start]) and not is_definition(parts[start])
                )
                worth += 0.05 * (other and not have and not marked)
                fits = have or marked or other
                if slot is keeper:
                    fits = whole <= have and all(start <= place < end for place in touching)
                if fits and worth >= after.get(end, (0.0, ()))[0] - 1e-9:
                    after[end] = worth, (*cuts, (slot, start))
        best = after
    _, cuts = max(best.values(), key=lambda found: found[0])
    starts = [*(start for _, start in cuts), len(parts)]
    texts = ["\n".join(parts[one:other]).strip("\n") for one, other in itertools.pairwise(starts)]
    found = dict(zip((slot for slot, _ in cuts), texts, strict=True))
    return found if len(found) > 1 and keeper in found else {}


def is_clear(parts: dict[Slot, str]) -> bool:
    """Whether a text was cut where it must be: each part ends and begins with what gives a name of its answer."""
    for (one, above), (other, below) in itertools.pairwise(parts.items()):
        last, first = statements(above)[-1], statements(below)[0]
        if not one.own & (bound_names(last) | changed_names(last)) or not other.own & bound_names(first):
            return False
    return True
