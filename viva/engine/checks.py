"""The checks of a grade cell: their titles, their points and their lines, some of them hidden.

A comment line at the left margin starts each of them:

    expected = softmax_by_loop(scores)              <- the prelude, shared by all checks
    ### CHECK (1 point): each column sums to one    <- title and points; "### CHECK 1: ..." is the same
    assert np.allclose(weights.sum(axis=0), 1), "..."
    ### CHECK (2 points): agrees with a loop on new numbers
    ### BEGIN HIDDEN TESTS
    ...
    ### END HIDDEN TESTS

To nbgrader these lines are comments; the cell stays one grade cell worth the sum of its checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from viva.notebook.names import names_in_text
from viva.notebook.programming import PYTHON
from viva.notebook.statements import runs, texts_with_lines
from viva.notebook.syntax import complaint_about
from viva.verdict import BlueprintError

CHECK = re.compile(
    r"""
    ^[#]{3}[ ]CHECK[ ]
    (?P<open>\()? (?P<points>\d+(?:\.\d+)?) (?(open)[ ]points?\)) :
    [ ]* (?P<title>\S.*?) [ ]* $
    """,
    re.VERBOSE,
)
"""The line that starts a check; its points are a bare number or, better, "(2 points)"."""
HIDDEN = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*$", re.DOTALL | re.MULTILINE)
"""Hidden lines with their marks, as nbgrader finds them: by the words, however many ``#`` stand before them."""


@dataclass(frozen=True)
class Check:
    """One thing a grade cell looks at."""

    title: str
    points: float
    source: str
    cut: bool = False
    """Whether it has hidden lines that this text of it lacks."""

    @property
    def hidden(self) -> bool:
        """Whether every line of code in the check is hidden from students."""
        visible = HIDDEN.sub("", self.source)
        return not any(line.strip() and not line.lstrip().startswith("#") for line in visible.splitlines())


def visible_and_hidden(source: str) -> tuple[str, str]:
    """The visible and the hidden lines of a test cell; a statement that cannot be read without its hidden lines, as a
    function's, is hidden as a whole."""
    shown, lines = HIDDEN.sub("", source), "\n".join(HIDDEN.findall(source))
    if (runs(shown) and runs(lines)) or not (statements := _statements(source)):
        return shown, lines
    parts: tuple[list[str], list[str]] = [], []
    for text, hidden in statements:
        parts[hidden].append(text)
    return "\n".join(parts[0]), "\n".join(parts[1])


def computed_from_hidden(source: str) -> set[str]:
    """The names to which visible lines of a test cell give values that hidden lines above have a part in."""
    secret: set[str] = set()
    computed: set[str] = set()
    for text, hidden in _statements(source) if HIDDEN.search(source) else ():
        names = names_in_text(text)
        if hidden:
            secret |= names.bound
        elif names.needed & secret:
            secret |= names.bound
            computed |= names.bound
        else:
            secret -= names.given
            computed -= names.given
    return computed


def _statements(source: str) -> list[tuple[str, bool]]:
    """The statements of a test cell's top level as texts, each with whether a line of it is hidden."""
    hidden = {
        1 + source.count("\n", 0, match.start()) + line
        for match in HIDDEN.finditer(source)
        for line in range(match[0].count("\n") + 1)
    }
    return [(text, not hidden.isdisjoint(lines)) for text, lines in texts_with_lines(source)]


def split_checks(
    source: str, name: str, points: float, where: str, language: str = PYTHON
) -> tuple[str, tuple[Check, ...]]:
    """The prelude and the checks of a grade cell's source.

    A cell without a ``### CHECK`` line is one check, titled ``name``, worth all its points.
    Raises BlueprintError as read_blueprint does; ``where`` is how its message names the cell.
    """
    for line in source.splitlines():
        if "### CHECK" in line and not CHECK.match(line):
            raise BlueprintError(
                f"{where}: the line '{line.strip()}' does not start a check. "
                "Write it at the left margin as '### CHECK (1.5 points): what is checked'."
            )
    prelude, checks = parts_of(source)
    if not checks:
        return "", (Check(name, points, source),)
    _validate(checks, points, where)
    if language == PYTHON:
        _require_whole(checks, where)
    return prelude, checks


def marked_as_cut(checks: tuple[Check, ...], original: str) -> tuple[Check, ...]:
    """The checks of a cell; those are marked of which the ``original`` text of the cell has hidden lines."""
    known = parts_of(original)[1]
    hiding = {check.title for check in known if HIDDEN.search(check.source)}
    hiding |= {check.title for check in checks if not known and HIDDEN.search(original)}
    return tuple(replace(check, cut=check.title in hiding and not HIDDEN.search(check.source)) for check in checks)


def parts_of(source: str) -> tuple[str, tuple[Check, ...]]:
    """The lines above the first ``### CHECK`` line of a text, and its checks."""
    prelude: list[str] = []
    parts: list[tuple[str, float, list[str]]] = []
    for line in source.splitlines():
        if match := CHECK.match(line):
            parts.append((match["title"], float(match["points"]), []))
        else:
            (parts[-1][2] if parts else prelude).append(line)
    return "\n".join(prelude), tuple(Check(title, worth, "\n".join(lines)) for title, worth, lines in parts)


def _validate(checks: tuple[Check, ...], points: float, where: str) -> None:
    titles = [check.title for check in checks]
    for title in titles:
        if titles.count(title) > 1:
            raise BlueprintError(f"{where}: two checks are called '{title}'. Give each check its own title.")
    total = sum(check.points for check in checks)
    if abs(total - points) > 1e-9:
        raise BlueprintError(
            f"{where}: the points of the checks add up to {total:g}, those of the cell to {points:g}. "
            "Change one of the two."
        )


def _require_whole(checks: tuple[Check, ...], where: str) -> None:
    """Raises BlueprintError for a check whose text is not whole; only Python's can be read before they run."""
    for check in checks:
        if not runs(check.source) and (message := complaint_about(check.source)[0]):
            raise BlueprintError(
                f"{where}: the check '{check.title}' cannot run alone ({message}). Do not start a check inside a "
                "block, such as a loop or a function."
            )
