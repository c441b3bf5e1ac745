"""The contract of a release: what grading an assignment depends on, as it was when it was released.

Theory of operation. ``source/`` is read by the compiler alone. A release compiles it once, and keeps the result beside
the gradebook, in ``.contracts/ASSIGNMENT/EDITION/``:

    notebooks/   the complete notebooks: with header and footer, after the course's own steps, with solutions and
                 hidden tests
    released/    the same notebooks as students get them
    files/       the files beside them, as students get them, and helper notebooks: those without a graded cell; in
                 ``.viva-tests/`` the files that only tests get, in ``.viva-solved/`` graded notebooks that others run
    contract.json    the facts (``viva.editions.Facts``)

``current`` beside the editions names the one that counts. Grading, `viva regrade`, the diagnosis and a bundle read it
and nothing else; the audit reads the same, compiled into a temporary folder (``drafted``), before there is a release.

nbgrader may release too, in a terminal or in formgrader. Then the gradebook holds other cells than the contract, and so
it does where an older Viva released: the contract is made from ``source/``, ``release/`` and the gradebook, in which
the texts and points of the tests are.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import IncludeHeaderFooter
from traitlets.config import Config

from viva import editions, wording
from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.fingerprint import ground, rows_in_order
from viva.course.gradebook.recording import Expected
from viva.course.processes import leftovers
from viva.course.releasing.compiler import Compiled, compiled, compiled_twice, completed
from viva.course.source import leaving, machine
from viva.course.source.markers import RightMarkers
from viva.course.source.timelimit import seconds_of
from viva.editions import CURRENT, FACTS, NOTEBOOKS, Facts, folder_of, place_of
from viva.engine.blueprint import SOLUTION_MARK, read_blueprint, read_notebook
from viva.engine.kerneldialogue import KERNELS, dialogue_of
from viva.folder import FOR_TESTS, SOLVED, walk
from viva.notebook.cell import grade_id, marks_of
from viva.notebook.programming import PYTHON, language_of
from viva.record import SubmissionRecord
from viva.verdict import BlueprintError, CourseError, VivaError

FILES, RELEASED = "files", "released"
EDITION = 12
"""The letters of an edition's name."""


@dataclass(frozen=True)
class Contract:
    """A contract in its folder."""

    folder: Path
    source: Path
    """The folder that it was compiled from, by whose name errors call it."""
    facts: Facts

    @property
    def notebooks(self) -> list[Path]:
        """The complete notebooks, in order."""
        return sorted((self.folder / NOTEBOOKS).glob("*.ipynb"))

    def notebook(self, name: str) -> Path:
        """A complete notebook."""
        return self.folder / NOTEBOOKS / f"{name}.ipynb"

    @property
    def files(self) -> Path:
        """The folder of the files that lie beside the notebooks when they run."""
        return self.folder / FILES

    def released(self, name: str) -> Path:
        """A notebook as students got it."""
        return self.folder / RELEASED / f"{name}.ipynb"

    def present_imports(self) -> dict[str, str]:
        """The modules that grading needs, and where each is found now; empty where it is not."""
        return machine.imports(self.notebooks, walk(self.files))

    def named(self, text: str) -> str:
        """A sentence that names the notebooks in the source folder, where the instructor corrects them."""
        return text.replace(str(self.folder / NOTEBOOKS), str(self.source)).replace(str(self.files), str(self.source))


@dataclass(frozen=True)
class Draft(Contract):
    """The contract that a release of the present source would write."""

    books: Mapping[str, Compiled]
    """By name, what the notebooks were compiled to."""

    def answers(self) -> dict[str, str]:
        """By grade id, the texts of the author's answers that students do not get, without the lines of markers."""
        answers = {}
        for book in self.books.values():
            given = {grade_id(cell): cell.source for cell in book.released.cells}
            for cell in book.complete.cells:
                lines = [line for line in cell.source.splitlines() if not SOLUTION_MARK.match(line)]
                if utils.is_solution(cell) and (text := "\n".join(lines)) != given.get(grade_id(cell)):
                    answers[grade_id(cell)] = text
        return answers


def of(course: Course, assignment: str, expected: Expected, tell: Callable[[str], object] | None = None) -> Contract:
    """The contract of a released assignment, whose cells in the gradebook are ``expected``.

    Where there is none, it is made, and who is to ``tell`` says so. Raises CourseError where that is not possible.
    """
    place = place_of(course.directory, assignment)
    facts = editions.current(place)
    if facts and facts.gradebook == digest_of(expected) and not _lacking(place / facts.edition, expected):
        require_kernels(facts)
        return Contract(place / facts.edition, course.path("source", assignment), facts)
    made = _from_gradebook(course, assignment, expected)
    if tell:
        by_other = f"The gradebook has another release than {place}" if facts else f"There is no contract in {place}"
        tell(f"{assignment}: {by_other}. So Viva made the contract again from source/, release/ and the gradebook.")
    return made


def require_kernels(facts: Facts) -> None:
    """Raises CourseError where tests that were released for a second kernel would run in the student's."""
    for language in facts.apart:
        if not dialogue_of(language):
            raise CourseError(
                f"{facts.assignment}: its tests in {language} must run in a second kernel, where student code cannot "
                "reach them. " + (KERNELS.lacking(language.lower()) or "Install the package that brings it.")
            )


def of_gradebook(course: Course, assignment: str, tell: Callable[[str], object] | None = None) -> Contract | None:
    """The contract of an assignment as the gradebook has it; None where the gradebook does not know it.

    Raises CourseError as ``of`` does.
    """
    with contextlib.suppress(MissingEntry):
        expected = course.ask(lambda gradebook: Expected.of(gradebook, assignment))
        return of(course, assignment, expected, tell)
    return None


@contextlib.contextmanager
def drafted(course: Course, assignment: str) -> Iterator[Draft]:
    """The contract that a release of the present source would write, in a temporary folder.

    Inside, errors about its notebooks name those in the source folder. Raises CourseError for a cell whose points
    could not be graded.
    """
    books = {path.stem: compiled_twice(course, assignment, path.stem) for path in course.source_notebooks(assignment)}
    with tempfile.TemporaryDirectory(prefix="viva-contract-") as name:
        written = _written(course, assignment, books, Path(name), _now())
        draft = Draft(written.folder, written.source, written.facts, books)
        with speaking_of_source(draft):
            for name, book in books.items():
                _require_gradable(draft, name, book.released)
            yield draft


@contextlib.contextmanager
def speaking_of_source(contract: Contract) -> Iterator[None]:
    """Inside, errors about the notebooks of a contract name those in the source folder."""
    try:
        yield
    except VivaError as error:
        if (said := contract.named(str(error))) == str(error):
            raise
        raise type(error)(said) from error


def write(course: Course, draft: Contract, expected: Expected) -> Contract:
    """Keep a draft as the contract of the release that the gradebook now has."""
    for path in draft.notebooks:  # nbgrader has computed the lines with ``### AUTOTEST`` once more
        nbformat.write(_with_texts(read_notebook(path), expected.locked(path.stem)), path)
    return _kept(course, draft, expected)


def _require_gradable(draft: Contract, notebook: str, released: NotebookNode) -> None:
    """Raises CourseError for a cell with points in a students' version that grading would not find."""
    points = {cell.id: cell.points for cell in read_blueprint(draft.notebook(notebook)).cells}
    for cell in released.cells:
        worth = marks_of(cell).get("points", 0) if utils.is_grade(cell) or utils.is_task(cell) else 0
        if worth and points.get(grade_id(cell)) != float(worth):
            raise CourseError(
                f"{draft.source / notebook}.ipynb, cell '{grade_id(cell)}': its {worth:g} points cannot be graded, "
                "because students get a different cell from the one that grading expects. A step of "
                "c.GenerateAssignment.preprocessors changes the cell too late. Nothing was changed. Put that step "
                "before ClearSolutions."
            )


def files_of(directory: CourseDirectory, assignment: str) -> Path:
    """The folder of the files beside those notebooks; the source folder, where there is no contract yet."""
    folder = folder_of(directory, assignment)
    return folder.with_name(FILES) if folder.name == NOTEBOOKS and folder.with_name(FACTS).is_file() else folder


def notebooks_of(course: Course, assignment: str) -> list[Path]:
    """The complete notebooks of an assignment as it was released, in order; its source, where it has no contract."""
    return sorted(folder_of(course.directory, assignment).glob("*.ipynb"))


def names_of(course: Course, assignment: str) -> list[str]:
    """The names of an assignment's notebooks, in order: of those in release/, where nbgrader may have put them last."""
    released = sorted(course.path("release", assignment).glob("*.ipynb"))
    return [path.stem for path in released or notebooks_of(course, assignment)]


def digest_of(expected: Expected) -> str:
    """A hash of an assignment's cells as the gradebook has them."""
    books = [(name, rows_in_order(vars(book))) for name, book in sorted(expected.notebooks.items())]
    return hashlib.sha256(repr(books).encode("utf-8", "surrogatepass")).hexdigest()


def source_digest(course: Course, assignment: str) -> str:
    """A hash of what an assignment is compiled from: texts and settings of cells, header, footer, and files."""
    digest, folder = hashlib.sha256(), course.path("source", assignment)
    step = IncludeHeaderFooter(config=course.directory.config)
    included = [course.root / name for name in (step.header, step.footer) if name]
    for path in [*included, *sorted(walk(folder, course.directory.ignore))]:
        digest.update(f"{path.relative_to(folder) if path.is_relative_to(folder) else path.name}\0".encode())
        with contextlib.suppress(OSError):
            digest.update(_content(path))
    return digest.hexdigest()


def current(course: Course, assignment: str) -> Contract | None:
    """The contract of an assignment as far as one is kept; the gradebook may have another release by now."""
    place = place_of(course.directory, assignment)
    if not (facts := editions.current(place)) or not (place / facts.edition / NOTEBOOKS).is_dir():
        return None
    return Contract(place / facts.edition, course.path("source", assignment), facts)


def is_as_released(course: Course, assignment: str) -> bool:
    """Whether the source is the one that was released; False where no contract says so."""
    facts = editions.current(place_of(course.directory, assignment))
    return facts is not None and source_digest(course, assignment) == facts.source


def released_when(course: Course, assignment: str) -> tuple[str, bool]:
    """When an assignment was released, in words, and whether its source was changed since."""
    facts = editions.current(place_of(course.directory, assignment))
    if not facts:
        return "before", False
    when = datetime.fromisoformat(facts.released).strftime("%Y-%m-%d %H:%M UTC")
    present = course.path("source", assignment).is_dir()
    return when, present and source_digest(course, assignment) != facts.source


def older(course: Course, assignment: str, records: Mapping[tuple[str, str], SubmissionRecord]) -> str:
    """A sentence on the present submissions that an older release graded; empty where there are none.

    ``records`` are the results by assignment and student. `viva` alone counts the same way (``viva.editions.older``).
    """
    students = {submission.student for submission in course.submissions([assignment])}
    graded = [record.edition for (name, who), record in records.items() if name == assignment and who in students]
    count = editions.older(place_of(course.directory, assignment), graded)
    verb = "was" if count == 1 else "were"
    release = "an older release than the present one, so scores can change"
    return f"{wording.counted(count, 'submission')} {verb} graded with {release}." if count else ""


# --- what is compiled, and where it is kept


def _from_gradebook(course: Course, assignment: str, expected: Expected) -> Contract:
    """The contract of an assignment that was released without one."""
    books = {}
    for name in sorted(expected.notebooks):
        source = course.path("source", assignment) / f"{name}.ipynb"
        if not source.is_file():
            raise CourseError(f"{source} does not exist. Grading needs the instructor's notebook.")
        cells = {cell.name for cell in expected.notebooks[name].source_cells}
        released = released_notebook(course, assignment, name, cells)
        node = completed(course, assignment, name, released, expected.locked(name))
        points = {cell.name: cell.max_score for cell in expected.notebooks[name].grade_cells}
        for cell in node.cells:
            if grade_id(cell) in points:
                cell.metadata.nbgrader["points"] = points[grade_id(cell)]
        books[name] = Compiled(released, node, expected.locked(name))
        tests = {grade_id(cell) for cell in node.cells if utils.is_grade(cell)}
        if lost := sorted(expected.tests(name).keys() - tests):
            raise CourseError(
                f"{source} does not have the released test {', '.join(map(repr, lost[:5]))} any more, so nothing was "
                "graded. Restore the notebook as it was released."
            )
    times = [path.stat().st_mtime for path in course.path("release", assignment).glob("*.ipynb")]
    when = datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds") if times else _now()
    with tempfile.TemporaryDirectory(prefix="viva-contract-") as name:
        return _kept(course, _written(course, assignment, books, Path(name), when), expected)


def released_notebook(
    course: Course, assignment: str, notebook: str, cells: set[str], kept: Contract | None = None
) -> NotebookNode:
    """A notebook as students got it: the one in release/, or that of the contract where that is gone or another one.

    ``cells`` are the grade ids that the gradebook knows. Where no contract is ``kept`` that has it, it is compiled
    anew. Raises CourseError when there is no source either.
    """
    for path in (
        course.path("release", assignment) / f"{notebook}.ipynb",
        *([kept.released(notebook)] if kept else []),
    ):
        try:
            released = nbformat.read(path, as_version=4)
            names = {grade_id(cell) for cell in released.cells if "nbgrader" in cell.metadata}
            if cells <= names:
                return released
        except Exception as error:  # whatever a broken file leads to
            logging.getLogger("viva").debug("%s is not used: %s", path, error)
    return compiled(course, assignment, notebook, left_out=RightMarkers)  # students have it already


def _written(course: Course, assignment: str, books: Mapping[str, Compiled], folder: Path, when: str) -> Contract:
    """Write notebooks and files into a folder."""
    (folder / NOTEBOOKS).mkdir()
    (folder / FILES).mkdir()
    (folder / RELEASED).mkdir()
    points = {}
    for name, book in books.items():
        nbformat.write(book.complete, folder / NOTEBOOKS / f"{name}.ipynb")
        nbformat.write(book.released, folder / RELEASED / f"{name}.ipynb")
        points[name] = {
            grade_id(cell): cell.metadata.nbgrader["points"]
            for cell in book.complete.cells
            if utils.is_grade(cell) or utils.is_task(cell)
        }
        if _is_helper(book.complete):
            nbformat.write(book.released, folder / FILES / f"{name}.ipynb")
    for name in _named_by_others({name: book.complete for name, book in books.items()}):
        (folder / FILES / SOLVED).mkdir(exist_ok=True)
        shown = {grade_id(cell): cell.source for cell in books[name].released.cells}
        solved = copy.deepcopy(books[name].complete)
        for cell in solved.cells:
            if utils.is_locked(cell):
                cell.source = shown.get(grade_id(cell), cell.source)
        nbformat.write(solved, folder / FILES / SOLVED / f"{name}.ipynb")
    leaves = _copied(files_beside(course, assignment), folder / FILES)
    tests = _copied(files_for_tests(course, assignment), folder / FILES / FOR_TESTS)
    needed = machine.imports((folder / NOTEBOOKS).glob("*.ipynb"), walk(folder / FILES))
    written_in = {language_of(book.complete.metadata) for book in books.values()}
    apart = sorted(language for language in written_in if language != PYTHON and dialogue_of(language))
    about = source_digest(course, assignment), points, leaves, tests, needed, limits_of(course.directory.config), apart
    facts = Facts(assignment, "", when, "", *about)
    return Contract(folder, course.path("source", assignment), facts)


def limits_of(config: Config) -> dict[str, float]:
    """The limits of grading that a configuration sets, by name."""
    step = Examine(config=config)
    return {"seconds": seconds_of(config), "memory": float(step.memory), "budget": step.budget}


def _copied(files: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Copy files into a folder; by path, the SHA-256 of each."""
    digests = {}
    for name, path in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        digests[name] = hashlib.sha256(target.read_bytes()).hexdigest()
    return digests


def files_beside(course: Course, assignment: str) -> dict[str, Path]:
    """The files beside an assignment's notebooks that nbgrader releases, by path: its own, and what links lead to."""
    return _files(course, assignment, leaving.for_tests(course.directory.config))


def files_for_tests(course: Course, assignment: str) -> dict[str, Path]:
    """The files beside an assignment's notebooks that only tests get, by path."""
    leaving_files = files_beside(course, assignment)
    return {name: path for name, path in _files(course, assignment).items() if name not in leaving_files}


def _files(course: Course, assignment: str, ignored: Collection[str] = ()) -> dict[str, Path]:
    folder = course.path("source", assignment)
    paths = walk(folder, [*course.directory.ignore, "*.ipynb", *ignored])
    return {str(path.relative_to(folder)): path for path in paths if path.is_file()}


def _named_by_others(books: Mapping[str, NotebookNode]) -> list[str]:
    """The notebooks with something to do in them that another one runs or reads: in grading it finds the student's."""
    code = {name: [cell.source for cell in book.cells if cell.cell_type == "code"] for name, book in books.items()}
    return [
        name
        for name, book in books.items()
        if not _is_helper(book)
        and any(f"{name}.ipynb" in source for other in books if other != name for source in code[other])
    ]


def _is_helper(notebook: NotebookNode) -> bool:
    """Whether there is nothing to do in a notebook: others of the assignment may read or run it."""
    return not any(utils.is_grade(cell) or utils.is_solution(cell) or utils.is_task(cell) for cell in notebook.cells)


def _kept(course: Course, draft: Contract, expected: Expected) -> Contract:
    """Keep a draft beside the gradebook as the current edition; where nobody may write there, in a temporary folder."""
    gradebook = digest_of(expected)
    digest = hashlib.sha256(gradebook.encode())
    for path in sorted(walk(draft.folder)):
        digest.update(str(path.relative_to(draft.folder)).encode() + b"\0" + path.read_bytes())
    edition = digest.hexdigest()[:EDITION]
    counts = ground(draft.folder / NOTEBOOKS, draft.files, draft.files, "", expected).hex()
    facts = msgspec.structs.replace(draft.facts, edition=edition, gradebook=gradebook, ground=counts)
    place = place_of(course.directory, facts.assignment)
    before = editions.current(place)
    if before and msgspec.structs.replace(facts, released=before.released) == before:
        facts = before  # the same was released then
    (draft.folder / FACTS).write_bytes(msgspec.json.format(msgspec.json.encode(facts)))
    try:
        _make_folder(place.parent, course.directory.groupshared)
        _make_folder(place, course.directory.groupshared)
        with contextlib.suppress(FileExistsError), (place.parent / ".gitignore").open("x") as file:
            file.write("*\n")
        _put(draft.folder, place / edition, course.directory.groupshared)
        leftovers.write(place / CURRENT, f"{edition}\n")
        _protect(place / CURRENT, course.directory.groupshared)
        _prune(place, edition)
    except OSError:
        place = Path(tempfile.mkdtemp(prefix="viva-contract-"))
        _put(draft.folder, place / edition, shared=False)
    return Contract(place / edition, draft.source, facts)


def _put(draft: Path, folder: Path, shared: bool) -> None:
    """Copy a draft into its folder, so that this never holds a part."""
    if folder.is_dir() and (folder / FACTS).is_file() and (folder / NOTEBOOKS).is_dir():
        leftovers.write(folder / FACTS, (draft / FACTS).read_text())  # the same content has the same name
        _protect(folder / FACTS, shared)
        return
    with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=folder.parent) as name:
        build = Path(name, folder.name)
        shutil.copytree(draft, build)
        for path in [build, *build.rglob("*")]:
            _protect(path, shared)
        leftovers.put(build, folder)


def _prune(place: Path, edition: str) -> None:
    """Of older editions keep only the facts."""
    for folder in place.iterdir():
        if folder.is_dir() and folder.name != edition and not folder.name.startswith(leftovers.BUILD):
            for part in (NOTEBOOKS, RELEASED, FILES):
                shutil.rmtree(folder / part, ignore_errors=True)


def _make_folder(folder: Path, shared: bool) -> None:
    if not folder.is_dir():
        folder.mkdir()
        _protect(folder, shared)


def _protect(path: Path, shared: bool) -> None:
    """Only the course's owner may read it, or the group of graders."""
    if path.is_dir():
        path.chmod(0o2770 if shared else 0o700)
    else:
        path.chmod(0o660 if shared else 0o600)


def _lacking(folder: Path, expected: Expected) -> list[str]:
    return [name for name in expected.notebooks if not (folder / NOTEBOOKS / f"{name}.ipynb").is_file()]


def _with_texts(notebook: NotebookNode, locked: Mapping[str, str]) -> NotebookNode:
    """A complete notebook with the texts that nbgrader put into the gradebook."""
    for cell in notebook.cells:
        name = grade_id(cell)
        if cell.cell_type == "code" and utils.is_locked(cell):
            cell.source = locked.get(name, cell.source)
    return notebook


def _content(path: Path) -> bytes:
    """What counts of a file that is compiled: of a notebook neither outputs nor what an editor keeps in it."""
    if path.suffix != ".ipynb":
        return hashlib.sha256(path.read_bytes()).digest()
    try:
        notebook = read_notebook(path)
    except BlueprintError:
        return hashlib.sha256(path.read_bytes()).digest()
    cells = [
        [cell.cell_type, cell.source, *(cell.metadata.get(name, {}) for name in ("nbgrader", "viva"))]
        for cell in notebook.cells
    ]
    text = json.dumps([notebook.metadata.get("viva", {}), cells], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
