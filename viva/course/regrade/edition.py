"""An edition of an assignment: its checks in the gradebook, and its pages in release/.

Two editions are compared in sentences: what changes in each check, and whether students must fetch again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import nbformat
from nbgrader.preprocessors import InstantiateTests

from viva.course.course import Course
from viva.course.gradebook.recording import Expected
from viva.course.releasing.compiler import compiled
from viva.engine.checks import CHECK, HIDDEN, split_checks
from viva.notebook.cell import Purpose, grade_id, marks_of, purpose_of
from viva.verdict import BlueprintError
from viva.wording import counted

BY_HAND = "graded by hand"
"""In place of a check: a manually graded cell."""
SAME = "The checks are the same as in the present release."
Pages = dict[str, list[list[str]]]
"""By notebook, name and text of each cell that students got."""


@dataclass(frozen=True)
class Edition:
    """A release that students had, as plain data for the log."""

    tests: dict[str, str]
    """By notebook and cell, the text of each test cell, hidden lines included; of those graded by hand the points."""
    pages: Pages | None
    """None when release/ does not say. A file that is not a notebook has one entry: its name, and a digest."""

    @classmethod
    def of(cls, course: Course, assignment: str) -> Edition:
        """The present release; the gradebook must know the assignment."""
        return cls(_tests(course, assignment), _pages(course, assignment))

    def sentences(self, new: Edition, assignment: str) -> list[str]:
        """Whether students must fetch the next edition, and what it changes in each check."""
        return [*pages_changed(self.pages, new.pages, assignment), *checks_changed(self.tests, new.tests)]

    def renamed(self, new: Edition) -> dict[str, dict[str, str]]:
        """By notebook and cell, the new title of each check of which only the title is another."""
        return _renamed(self.tests, new.tests)

    def tests_otherwise(self, new: Edition, cell: str) -> bool:
        """Whether a cell is tested otherwise, or worth something else; titles aside."""
        old, now = (list(_checks(edition.tests.get(cell, "")).values()) for edition in (self, new))
        return old != now


def corrected(course: Course, assignment: str) -> list[str]:
    """The graded cells that a release of the present source would change; everybody is graded by the last release.

    Lines with ``### AUTOTEST`` are not computed for it, so a cell that has some is left out. Raises CourseError.
    """
    out, names = _tests(course, assignment), []
    for path in course.source_notebooks(assignment):
        locked: dict[str, str] = {}
        for cell in compiled(course, assignment, path.stem, locked, left_out=InstantiateTests).cells:
            name, purpose = grade_id(cell), purpose_of(cell)
            was, source = out.get(f"{path.stem}/{name}"), locked.get(name, cell.source)
            if was is not None and "### AUTOTEST" not in source and "### HASHED AUTOTEST" not in source:
                now = _test(name, marks_of(cell).get("points") or 0, source if purpose == Purpose.TESTS else None)
                names += [name] if now != was else []
    return names


def _tests(course: Course, assignment: str) -> dict[str, str]:
    with course.gradebook() as gradebook:
        expected, texts = Expected.of(gradebook, assignment), {}
    for name, book in expected.notebooks.items():
        points = {cell.name: cell.max_score for cell in [*book.grade_cells, *book.task_cells]}
        tests = expected.tests(name)
        for cell in book.source_cells:
            if cell.name in points:
                source = cell.source if cell.name in tests else None
                texts[f"{name}/{cell.name}"] = _test(cell.name, points[cell.name], source)
    return texts


def _test(name: str, points: float, source: str | None) -> str:
    """The text of a test cell, with its points; of a cell that is graded by hand, which has None, only these."""
    if source is None:
        return f"### CHECK {points:g}: {BY_HAND}\n"
    return source if "### CHECK" in source else f"### CHECK {points:g}: {name}\n{source}"


def _pages(course: Course, assignment: str) -> Pages | None:
    pages, folder = {}, course.path("release", assignment)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.parent != folder or path.suffix != ".ipynb":
            pages[name] = [[name, hashlib.sha256(path.read_bytes()).hexdigest()]]
            continue
        try:
            cells = nbformat.read(path, as_version=4).cells
        except Exception:  # whatever lies there, it is not a student version
            return None
        pages[path.stem] = [[grade_id(cell), cell.source] for cell in cells]
    return pages or None


def pages_changed(old: Pages | None, new: Pages | None, assignment: str) -> list[str]:
    """Whether students must fetch the assignment again."""
    again = f"Students who still work on this assignment need the new release/{assignment}"
    if old is None or new is None:
        return [
            f"There is no student version in the old release/, so it is unknown whether students see a change. {again}."
        ]
    if old == new:
        return ["Students do not need a new copy, because their version is the same."]
    names = []
    for notebook in {**old, **new}:
        before, cells = old.get(notebook, []), new.get(notebook, [])
        names += [name or f"a cell of {notebook}" for name, text in cells if [name, text] not in before]
        names += [name or f"a cell of {notebook}" for name, text in before if name not in {n for n, _ in cells}]
    changed = ", ".join(dict.fromkeys(names)) or "the order of the cells"
    return [
        f"The student version changed ({changed}). {again}. Existing submissions are graded with the new text. "
        "Students do not need to submit again."
    ]


def checks_changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """A sentence for each check that is new, gone, or worth or written otherwise."""
    sentences, renamed = [], _renamed(old, new)
    for cell_path in {**old, **new}:
        was, is_ = _checks(old.get(cell_path, "")), _checks(new.get(cell_path, ""))
        cell, names = cell_path.partition("/")[2], renamed.get(cell_path, {})
        for title in [title for title in {**was, **is_} if title not in names.values()]:
            name = f"{cell}, which is {BY_HAND}," if title == BY_HAND else f"{cell}: the check '{title}'"
            if title in names:
                sentences.append(f"{name} is called '{names[title]}' now.")
            elif title not in is_:
                sentences.append(f"{name} was removed.")
            elif title not in was:
                sentences.append(f"{name} was added, for {counted(is_[title][0], 'point')}.")
            else:
                (points, text), (points_now, text_now) = was[title], is_[title]
                if points != points_now:
                    sentences.append(f"{name} is worth {counted(points_now, 'point')} instead of {points:g}.")
                if text != text_now:
                    hidden = HIDDEN.sub("", text) == HIDDEN.sub("", text_now)
                    where = "in hidden lines only" if hidden else "which students see"
                    sentences.append(f"{name} has a new text, {where}.")
    return sentences or [SAME]


def _renamed(old: dict[str, str], new: dict[str, str]) -> dict[str, dict[str, str]]:
    names = {}
    for cell in old.keys() & new.keys():
        was, is_ = _checks(old[cell]), _checks(new[cell])
        fresh = {check: title for title, check in is_.items() if title not in was}
        names[cell] = {title: fresh.pop(check) for title, check in was.items() if title not in is_ and check in fresh}
    return names


def _checks(source: str) -> dict[str, tuple[float, str]]:
    """By title, points and text of each check; the prelude goes with every one of them."""
    if not source:
        return {}
    points = sum(float(match["points"]) for match in map(CHECK.match, source.splitlines()) if match)
    try:
        prelude, checks = split_checks(source, "", points, "the gradebook")
    except BlueprintError:  # not in Python
        return {"the whole cell": (points, source)}
    return {check.title: (check.points, f"{prelude}\n{check.source}") for check in checks}
