"""The markers around hidden text: nbgrader's markers, and lines that are almost one.

nbgrader finds a marker letter by letter. A line with a slip in it is a comment for nbgrader, and the solution or the
hidden test below it is released.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions, NbGraderPreprocessor
from rapidfuzz.distance import OSA
from traitlets.config import Config

from viva.cleaning import plaintext
from viva.verdict import CourseError

MARKERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")
STEPS = {
    ClearSolutions: ("begin_solution_delimeter", "end_solution_delimeter"),
    ClearHiddenTests: ("begin_test_delimeter", "end_test_delimeter"),
    ClearMarkScheme: ("begin_mark_scheme_delimeter", "end_mark_scheme_delimeter"),
}
"""nbgrader's steps, each with the names of its settings for the begin and the end of a region."""
FORMS = {
    ClearSolutions: ("SOLUTION", "SOLUTIONS"),
    ClearHiddenTests: ("HIDDENTEST", "HIDDENTESTS", "HIDDENTESTCASES", "HIDDEN"),
    ClearMarkScheme: ("MARKSCHEME", "MARKINGSCHEME", "GRADINGSCHEME"),
}
"""The names of each step's region, also the wrong ones that people use for it."""
VERBS = (("BEGIN", "START"), ("END", "STOP"))
LONG = 15
"""Letters of a marker in which two slips are not another word yet."""
LONGEST = 60
"""Characters of a line that may be a marker."""
SIGNS = re.compile(r"\s*###")
"""The signs before a marker, which no other comment needs: then more words may stand behind it."""
COMMENT = re.compile(r"\s*[^\w\s'\"(\[{@.]")
"""A line of code that begins as a comment does, in whatever language."""


def marker_in(text: str, config: Config) -> str:
    """The first marker of hidden text that a notebook's text still holds; empty where it holds none."""
    # A notebook's text is JSON, in which quotes and letters of other scripts are written in another way.
    return next((marker for marker in markers(config) if marker in text or json.dumps(marker)[1:-1] in text), "")


def markers(config: Config) -> tuple[str, ...]:
    """nbgrader's usual markers at the begin of hidden text, and those that a course has set."""
    configured = (str(getattr(step(config=config), begin)) for step, (begin, _) in STEPS.items())
    return tuple(dict.fromkeys((*MARKERS, *filter(None, configured))))


def require_usual_hidden(config: Config) -> None:
    """Raises CourseError where a course marks its hidden tests with other words than the engine does (see
    ``viva.engine.checks.HIDDEN``): hidden lines would then pass for visible ones."""
    step = ClearHiddenTests(config=config)
    for setting, usual in zip(STEPS[ClearHiddenTests], ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS"), strict=True):
        if usual not in (marker := str(getattr(step, setting))):
            raise CourseError(
                f"nbgrader_config.py sets c.ClearHiddenTests.{setting} to {plaintext.quoted(marker)}. Viva finds "
                f"hidden tests only by '{usual}', so students could read yours. Remove this setting, and write "
                f"'### {usual}' into the notebooks in source/."
            )


class RightMarkers(NbGraderPreprocessor):
    """Before nbgrader looks for markers: refuses a notebook in which a line was meant to be one, and is not."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        """Raises CourseError with the line, and the marker that was meant."""
        for number, line, meant in self._slips(cell):
            raise CourseError(
                f"line {number}, {plaintext.quoted(line.strip())}, is not a marker of nbgrader, so students would "
                f"read the lines after it. Write '{_line(meant)}', or use other words in this line"
            )
        for step, names in STEPS.items():
            self._require_begun(cell, *self._markers(step, names))
        return cell, resources

    def _markers(self, step: type[NbGraderPreprocessor], names: tuple[str, str]) -> tuple[str, str]:
        configured = step(parent=self.parent, config=self.config)
        begin, end = (str(getattr(configured, name)) for name in names)
        return begin, end

    def _slips(self, cell: NotebookNode) -> Iterator[tuple[int, str, str]]:
        """The lines that were meant to be a marker: the number from 1 on, the line, and the marker."""
        markers = {step: self._markers(step, names) for step, names in STEPS.items()}
        lines, code = cell.source.split("\n"), cell.cell_type == "code"
        inside = ""
        for number, line in enumerate(lines, 1):
            if marker_pair := next((pair for pair in markers.values() if pair[0] in line or pair[1] in line), None):
                inside = marker_pair[0] if marker_pair[0] in line else ""
            elif len(line) <= LONGEST and (not code or COMMENT.match(line)):
                words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", line).upper())
                letters = "".join(words)
                begins = ["".join(words[:count]) for count in (2, 3)] if SIGNS.match(line) else []
                if meant := _meant(letters, markers) or next(filter(None, (_meant(w, markers, 0) for w in begins)), ""):
                    yield number, line, meant
                elif code and not inside and letters in FORMS[ClearHiddenTests] and _shown(lines[number:], markers):
                    yield number, line, markers[ClearHiddenTests][0]

    def _require_begun(self, cell: NotebookNode, begin: str, end: str) -> None:
        """Raises CourseError for an end without a begin: nbgrader removes the line, and releases the lines above it."""
        open_ = False
        for number, line in enumerate(cell.source.split("\n"), 1):
            if begin in line:
                open_ = True
            elif end in line:
                if not open_:
                    raise CourseError(
                        f"line {number}, {plaintext.quoted(line.strip())}, has no line '{_line(begin)}' above it, "
                        "so students would read it. Add that line, or remove this one"
                    )
                open_ = False


def _shown(below: list[str], markers: dict) -> bool:
    """Whether code that students read follows, before the next marker."""
    for line in below:
        if any(begin in line for begin, _ in markers.values()):
            return False
        if line.strip() and not COMMENT.match(line):
            return True
    return False


def _meant(letters: str, markers: dict[type[NbGraderPreprocessor], tuple[str, str]], slips: int = 1) -> str:
    """The marker that a line was meant to be, of which these are the letters; empty where it means something else."""
    for step, forms in FORMS.items():
        for verbs, marker in zip(VERBS, markers[step], strict=True):
            for form in forms:
                for verb in verbs:
                    for whole in (verb + form, form + verb):
                        # A slip is one letter more, fewer or another, or two that changed places; seldom the first.
                        most = slips and slips + (len(whole) >= LONG)
                        if letters[:1] == whole[:1] and OSA.distance(letters, whole, score_cutoff=most) <= most:
                            return marker
    return ""


def _line(marker: str) -> str:
    """The line that a marker is written as."""
    return f"### {marker}" if marker[:1].isalnum() else marker
