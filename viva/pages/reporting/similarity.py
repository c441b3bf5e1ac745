"""Similar answers: students whose code shares parts that hardly anybody else wrote.

Theory of operation. The answer cells of a notebook are read as tokens by Pygments, which reads broken code too.
Comments, docstrings and white space go; names, numbers and strings become one sign each, but for keywords, builtins
and what follows a dot. All runs of LENGTH tokens (k-grams) that stand in the released notebook are subtracted, and so
are those that many students have: there are only so many ways to write a softmax. What is left of a student are the
*fingerprints* that winnowing picks from each row of k-grams (Schleimer, Wilkerson and Aiken, Winnowing: local
algorithms for document fingerprinting, SIGMOD 2003): any shared run of LENGTH + WINDOW - 1 tokens is found, whatever
stands around it. An index from fingerprint to students gives the pairs that share some; no other pair is looked at.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

LENGTH, WINDOW = 8, 5
LEAST = 6
"""An answer with fewer fingerprints of its own says nothing."""
ALIKE = 0.5
"""The share of the shorter answer's fingerprints from which on a pair is shown."""
FEW = 4
"""Code counts as similar if at most this many students share it, or a tenth of the class where that is more."""
MOST = 100
"""Never more than so many: in a class of thousands a tenth would be pairs by the million."""

Cells = Mapping[str, str]
_LEXER = PythonLexer(stripnl=False, ensurenl=False)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two students and how many fingerprints they share, of how many that the shorter answer has."""

    first: str
    second: str
    shared: int
    of: int

    @property
    def share(self) -> float:
        return self.shared / self.of


@dataclass
class Group:
    """Students who are alike, pair by pair, and the pair that is most so."""

    students: list[str]
    pairs: list[Pair]

    @property
    def best(self) -> Pair:
        return min(self.pairs, key=_rank)


@dataclass
class Comparison:
    """The pairs of a class that are alike, the most alike first."""

    pairs: list[Pair] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    """Students whose answers hold too little of their own."""
    rare: frozenset[int] = frozenset()
    """The k-grams that count."""

    def groups(self) -> list[Group]:
        """The pairs, those together that have a student in common."""
        leader: dict[str, str] = {}

        def lead(student: str) -> str:
            while leader.setdefault(student, student) != student:
                student = leader[student]
            return student

        for pair in self.pairs:
            leader[lead(pair.second)] = lead(pair.first)
        by_leader: dict[str, list[Pair]] = defaultdict(list)
        for pair in self.pairs:
            by_leader[lead(pair.first)].append(pair)
        groups = [Group(sorted({s for p in pairs for s in (p.first, p.second)}), pairs) for pairs in by_leader.values()]
        return sorted(groups, key=lambda group: _rank(group.best))


def _rank(pair: Pair) -> tuple:
    return -pair.share, -pair.shared, pair.first, pair.second


@functools.lru_cache(maxsize=4096)
def tokens(source: str) -> list[tuple[str, int, int]]:
    """What counts of a piece of code: each token's sign and where it begins and ends.

    >>> [sign for sign, _, _ in tokens("total = np.sum(x, 2)  # all")]
    ['n', '=', 'n', '.', 'sum', '(', 'n', ',', '0', ')']
    """
    signs, before = [], ""
    for start, token, text in _LEXER.get_tokens_unprocessed(source):
        if token in Text or token in Comment or token in String.Doc or not text.strip():
            continue
        if token in String:
            sign = "s"
        elif token in Number:
            sign = "0"
        elif token in Keyword or token in Operator or token in Punctuation or token in Name.Builtin or before == ".":
            sign = text
        else:
            sign = "n"
        if not (sign == before == "s"):  # a string is several tokens
            signs.append((sign, start, start + len(text)))
        before = sign
    return signs


def kgrams(signs: list[str]) -> list[int]:
    """A number for each run of LENGTH signs."""
    runs = ("\0".join(signs[start : start + LENGTH]) for start in range(len(signs) - LENGTH + 1))
    return [int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest()) for run in runs]


def winnow(numbers: list[int]) -> set[int]:
    """The least number of each window of WINDOW, so that two rows which share a window share a pick.

    >>> sorted(winnow([5, 3, 9, 7, 8, 6, 1, 4]))
    [1, 3, 6]
    """
    windows = max(1, len(numbers) - WINDOW + 1)
    return {min(numbers[start : start + WINDOW]) for start in range(windows)} if numbers else set()


def compare(answers: Mapping[str, Cells], released: Cells, together: Iterable[set[str]] = ()) -> Comparison:
    """Compare the answers of a class to one notebook, by student and cell, with each other.

    ``released`` holds the code cells that students were given, which count for nobody. Those who submitted
    ``together``, as a group, are not compared with each other, and what they share counts as one student's.
    """
    group = {student: min(students) for students in together for student in students}
    released_grams = {gram for source in released.values() for gram in kgrams(_signs(source))}
    rows = {student: [kgrams(_signs(source)) for source in cells.values()] for student, cells in answers.items()}
    written: dict[str, set[int]] = defaultdict(set)
    for student, row in rows.items():
        written[group.get(student, student)].update(*row)
    spread = Counter(gram for numbers in written.values() for gram in numbers)
    most = min(max(FEW, len(answers) // 10), MOST)
    rare = frozenset(gram for gram, students in spread.items() if students <= most and gram not in released_grams)
    prints = {student: set().union(*map(winnow, row)) & rare for student, row in sorted(rows.items())}
    result = Comparison(rare=rare, short=[student for student, grams in prints.items() if len(grams) < LEAST])
    holders: dict[int, list[str]] = defaultdict(list)
    pairs: list[Pair] = []
    for student, grams in prints.items():
        if len(grams) >= LEAST:
            shared = Counter(partner for gram in grams for partner in holders[gram])
            candidates = (
                Pair(partner, student, count, min(len(prints[partner]), len(grams)))
                for partner, count in shared.items()
                if count >= LEAST and (student not in group or group[student] != group.get(partner))
            )
            pairs += (pair for pair in candidates if pair.share >= ALIKE)
            for gram in grams:
                holders[gram].append(student)
    result.pairs = sorted(pairs, key=_rank)
    return result


def _signs(source: str) -> list[str]:
    return [sign for sign, _, _ in tokens(source)]


def matching(left: Cells, right: Cells, rare: frozenset[int]) -> tuple[dict, dict]:
    """The cells of both sides, each cut into pieces (whether it matches, text); what many have does not match."""
    both = rare & _all(left) & _all(right)
    first, second = ({name: _pieces(source, both) for name, source in side.items()} for side in (left, right))
    return first, second


def _all(cells: Cells) -> set[int]:
    return {number for source in cells.values() for number in kgrams(_signs(source))}


def _pieces(source: str, both: frozenset[int]) -> list[tuple[bool, str]]:
    signs = tokens(source)
    inside = [False] * len(source)
    for start, number in enumerate(kgrams([sign for sign, _, _ in signs])):
        if number in both:
            begin, end = signs[start][1], signs[start + LENGTH - 1][2]
            inside[begin:end] = [True] * (end - begin)
    runs = itertools.groupby(zip(inside, source, strict=True), key=itemgetter(0))
    return [(matches, "".join(letter for _, letter in run)) for matches, run in runs]
