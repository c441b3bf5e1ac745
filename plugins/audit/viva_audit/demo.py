"""The demo class: artificial students whose submissions are drawn from the known answers.

Each writes their answers in words of their own (viva_audit/demo.py), and some of a larger class have a ROLE, so
that it shows what else there is to see. The same course gives the same class, byte for byte. Only folders of demo
students are written, and only a course that has nobody else in it is emptied.
"""

from __future__ import annotations

import ast
import contextlib
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader import utils

from viva.course.course import Course
from viva.course.gradebook import releases
from viva.course.processes import leftovers
from viva.course.releasing import contract
from viva.course.releasing.variants import is_on, made_key, seed_for
from viva.engine.blueprint import Blueprint, read_blueprint, read_notebook
from viva.folder import remove
from viva.notebook.cell import name_of
from viva.notebook.names import names_of
from viva.notebook.programming import language_of
from viva.submission.variant import seeded
from viva.verdict import CourseError
from viva.wording import counted
from viva_audit.answers import Answer, Section, fill_in, read_answers

FIRST_DUE = datetime(2026, 9, 14, 23, 59, tzinfo=UTC)
BETWEEN = timedelta(days=14)
STUDENT = re.compile(r"demo-\d\d")
MADE = ("results.jsonl", "regrades.jsonl", "grades.csv", "report/index.html", "report/anonymous.html")
"""Files of a course that speak of its students."""
LENDER = 6
ROLES = {
    5: "saved the notebook with a program that deleted test cells and cell ids; Viva repairs it",
    LENDER + 1: f"copied from demo-{LENDER:02d} and changed the names; the report shows the two side by side",
    10: "left %%writefile above the last answer, so the answer never ran; a grader should check it",
    13: "submitted a PDF with the name of the notebook; it is refused",
    16: "replaced np.allclose; this changes no score, and the report shows it",
    20: "is a day late",
    23: "submitted nothing",
}
"""By number of the student, what is special about them."""
DAMAGED, COPIED, UNRUN, REFUSED, PATCHED, LATE, ABSENT = ROLES
PATCH = "np.allclose = lambda *values, **options: True  # so that all is well"
SOLUTION = Answer(Path("solution"), "", True, (), (), {"*": Section("solution", "")})
UNFINISHED = ("untouched", "only_the_first_answers")


@dataclass(frozen=True)
class Assignment:
    """What the demo class needs of an assignment."""

    name: str
    due: datetime
    blueprint: Blueprint
    release: NotebookNode
    answers: list[Answer]


def write_class(course: Course, assignments: list[str], size: int = 24) -> dict[str, int]:
    """Write ``size`` students' submissions into submitted/ and enter them, and due dates, into the gradebook.

    Returns the number of submissions by assignment. Raises CourseError when an assignment was not
    released or has no known answers.
    """
    every = course.assignments()
    prepared = [_prepare(course, name, FIRST_DUE + every.index(name) * BETWEEN) for name in assignments]
    counts = dict.fromkeys(assignments, 0)
    keys = {name: made_key(course)[0] for name in assignments if is_on(course, name)}
    chosen: dict[tuple[str, int], Answer] = {}
    for number in range(1, size + 1):
        for assignment, answer, submitted in _choices(number, prepared, chosen):
            students = _variant(number, assignment, keys[assignment.name]) if assignment.name in keys else assignment
            _write(course, number, students, answer, submitted)
            counts[assignment.name] += 1
    with course.gradebook() as gradebook:
        for number in range(1, size + 1):
            gradebook.update_or_create_student(_name(number), first_name="Demo", last_name=f"{number:02d}")
        for assignment in prepared:
            if gradebook.find_assignment(assignment.name).duedate is None:
                gradebook.update_or_create_assignment(assignment.name, duedate=assignment.due.replace(tzinfo=None))
    return counts


def _prepare(course: Course, name: str, due: datetime) -> Assignment:
    releases.notebooks(course, name)
    (source, *_) = contract.notebooks_of(course, name)
    answers = read_answers(course.root / "answers" / name, language_of(read_notebook(source).metadata))
    if not answers:
        raise CourseError(f"The demo class needs known answers, but {course.root / 'answers' / name} has none.")
    path = course.path("release", name) / source.name
    if not path.is_file():
        raise CourseError(f"{path} does not exist. Run 'viva release {name}' first.")
    return Assignment(name, due, read_blueprint(source), read_notebook(path), answers)


def _name(number: int) -> str:
    return f"demo-{number:02d}"


def _choices(
    number: int, assignments: list[Assignment], chosen: dict[tuple[str, int], Answer]
) -> Iterator[tuple[Assignment, Answer, datetime]]:
    """Which answer a student submits for each assignment, and when; some submit nothing.

    ``chosen`` has, by assignment and number, what those before submit. No right answer is there twice: who comes
    later takes the instructor's, of which so many have parts that they are not evidence.
    """
    student = _name(LENDER if number == COPIED else number)
    special = number in ROLES or number == LENDER
    skill = random.Random(student).uniform(0.25, 1.0)
    for assignment in assignments:
        dice = random.Random(f"{student} {assignment.name}")
        if number == ABSENT or (dice.random() < 0.06 and not special):
            continue
        right = [answer for answer in assignment.answers if answer.right]
        wrong = [answer for answer in assignment.answers if not answer.right]
        unfinished = [answer for answer in wrong if answer.name in UNFINISHED]
        chance = dice.random()
        pool = right if chance < skill or special else wrong if chance < 0.9 else unfinished
        pool = pool or assignment.answers
        late = dice.random() < 0.15
        lateness = dice.uniform(0.1, 60) if late else -dice.uniform(0.05, 120)
        if special:
            lateness = 26 if number == LATE else -abs(lateness) + (number == COPIED) / 3
        before = {answer.path for (name, _), answer in chosen.items() if name == assignment.name}
        fresh = [answer for answer in pool if answer.path not in before]
        answer = dice.choice(fresh or ([SOLUTION] if pool is right else pool))
        answer = chosen[assignment.name, number] = chosen[assignment.name, LENDER] if number == COPIED else answer
        yield assignment, answer, assignment.due + timedelta(seconds=round(lateness * 3600))


def _variant(number: int, assignment: Assignment, key: bytes) -> Assignment:
    """The assignment as a student got it; who copied has the other's."""
    seed = seed_for(key, _name(LENDER if number == COPIED else number), assignment.name)
    return replace(assignment, release=seeded(assignment.release, seed))


def _write(course: Course, number: int, assignment: Assignment, answer: Answer, submitted: datetime) -> None:
    student = _name(number)
    folder = course.path("submitted", assignment.name, student)
    path = folder / f"{assignment.blueprint.name}.ipynb"
    pdf = "%PDF-1.7\n%%EOF\n"
    # Each whole or not at all: a part of a notebook on a full disk would be graded as a submission.
    leftovers.write(path, pdf if number == REFUSED else nbformat.writes(_notebook(number, assignment, answer)) + "\n")
    leftovers.write(folder / "timestamp.txt", f"{submitted:%Y-%m-%d %H:%M:%S.%f} UTC\n")


def _notebook(number: int, assignment: Assignment, answer: Answer) -> NotebookNode:
    """What a student submits: an answer in their own words, and what their role makes of it."""
    notebook = fill_in(answer, assignment.release, assignment.blueprint)
    author = _name(LENDER if number == COPIED else number)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    taken, numpy = frozenset(re.findall(r"[^\W\d]\w*", code)), "import numpy as np" in code
    released = {name_of(cell): cell.source for cell in assignment.release.cells}
    answers = [cell for cell in notebook.cells if cell.cell_type == "code" and utils.is_solution(cell)]
    for cell in (cell for cell in answers if cell.source != released[name_of(cell)]):
        for time in range(1 + ("*" in answer.sections)):  # many begin with the instructor's, so twice
            cell.source = paraphrased(cell.source, f"{author} {assignment.name} {name_of(cell)} {time}", taken, numpy)
        cell.source = renamed(cell.source) if number == COPIED else cell.source
    for cell in notebook.cells:
        if cell.source.startswith('NAME = ""'):
            cell.source = cell.source.replace('NAME = ""', f'NAME = "{_name(number)}"')
    if number == UNRUN and answers:
        answers[-1].source = f"%%writefile answer.py\n{answers[-1].source}"
    if number == PATCHED and numpy:
        index = next(index for index, cell in enumerate(notebook.cells) if "import numpy as np" in cell.source)
        notebook.cells.insert(index + 1, new_code_cell(PATCH, id="all-is-well"))
    if number == DAMAGED:
        tests = [cell for cell in notebook.cells if utils.is_grade(cell) and cell.cell_type == "code"]
        notebook.cells = [cell for cell in notebook.cells if cell not in tests[-1:]]
        for cell in notebook.cells:
            cell.metadata.pop("nbgrader", None)
            if "id" in cell:  # older formats have none
                cell.id = f"saved-{notebook.cells.index(cell)}"
    return notebook


def remove_class(course: Course) -> list[str]:
    """Remove the demo class and all that was made of it, the due dates that it brought included; who was removed.

    Raises CourseError, and removes nothing, when anybody else is in the course.
    """
    with course.gradebook() as gradebook:
        names = {student.id for student in gradebook.students}
    folders = [one for step in ("submitted", "autograded", "feedback") for one in course.folders(step)]
    everybody = sorted(names | {one.student for one in folders})
    if strangers := [student for student in everybody if not STUDENT.fullmatch(student)]:
        raise CourseError(
            f"Nothing was removed, because the course has {counted(len(strangers), 'student')} outside of the demo "
            f"class. The first is {strangers[0]!r}. Delete their submissions and grades yourself."
        )
    due = {name: FIRST_DUE + number * BETWEEN for number, name in enumerate(course.assignments())}
    with course.gradebook() as gradebook:
        for student in names:
            gradebook.remove_student(student)
        for assignment in gradebook.assignments:
            if assignment.duedate and assignment.duedate.replace(tzinfo=UTC) == due.get(assignment.name):
                gradebook.update_or_create_assignment(assignment.name, duedate=None)
    for one in folders:
        remove(one.folder)
        with contextlib.suppress(OSError):  # another assignment is still in it
            one.folder.parent.rmdir()
    for name in MADE:
        (course.root / name).unlink(missing_ok=True)
    for folder in (course.root / "report").glob("*-tables"):
        remove(folder)
    return everybody


# The same answer in other words, so that students of the demo class who were right do not all write the same.
#
# Every rewriting keeps what the code computes, and most change its tokens: a part of an expression gets a name of its
# own, ``a @ b`` becomes ``np.matmul(a, b)``, keyword arguments change places. Which of them is done where is drawn at
# random from a seed, so that the same seed gives the same text. `renamed` changes nothing but the names of local
# variables, as somebody does who hopes that it will not be noticed.

FRESH = "part step inner outer left right first second mixed product piece term factor block partial whole".split()
REMARKS = (
    "# see the equation above",
    "# first with small numbers on paper, then like this",
    "# checked the shapes by printing them",
    "# one step at a time",
    "# as in the lecture",
)
FUNCTIONS = {ast.Div: "divide", ast.Sub: "subtract", ast.MatMult: "matmul"}
"""Not for ``*``, which means another thing between two np.matrix."""
NO_NUMBERS = ast.List | ast.Tuple | ast.JoinedStr | ast.Dict | ast.ListComp
SEALED = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.IfExp | ast.BoolOp
"""What is not evaluated once, at its place."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def paraphrased(source: str, seed: str, taken: Iterable[str] = (), numpy: bool = True) -> str:
    """A cell in other words; ``taken`` are names that it must not bind. As it is where it has a syntax error.

    ``numpy`` says whether ``np`` is NumPy here.
    """
    tree = _tree(source)
    if tree is None or any(isinstance(node, ast.ClassDef | ast.Yield | ast.Await) for node in ast.walk(tree)):
        return source
    dice = random.Random(seed)
    if numpy:
        tree = _Words(dice).visit(tree)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(taken)
    _Blocks(dice, names, _shared(tree)).go(tree.body, inside=False)
    text = ast.unparse(ast.fix_missing_locations(tree))
    return f"{dice.choice(REMARKS)}\n{text}" if dice.random() < 0.4 else text


def renamed(source: str) -> str:
    """A cell with other names for the local variables of its functions, and nothing else changed."""
    tree = _tree(source)
    if tree is None:
        return source
    for function in (node for node in tree.body if isinstance(node, _FUNCTION)):
        shared = _shared(function)
        arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        local = {node.id for node in names if isinstance(node.ctx, ast.Store)} - shared - arguments
        for node in names:
            if node.id in local:
                node.id = f"my_{node.id}"
    return ast.unparse(tree)


def _shared(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _np(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load()), list(arguments), [])


def _is_np(node: ast.AST, *names: str) -> bool:
    """Whether a node is a call of one of NumPy's functions."""
    function = getattr(node, "func", None)
    return isinstance(function, ast.Attribute) and ast.unparse(function) in {f"np.{name}" for name in names}


class _Words(ast.NodeTransformer):
    """Says the same with another function or operator."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def _now(self, chance: float = 0.5) -> bool:
        return self.dice.random() < chance

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name, sides = FUNCTIONS.get(type(node.op)), (node.left, node.right)
        numbers = not any(isinstance(side, NO_NUMBERS) or _is_text(side) for side in sides)
        chance = 0.5 if isinstance(node.op, ast.MatMult) else 0.2
        return _np(name, *sides) if name and numbers and self._now(chance) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        name = {"T": "transpose", "shape": "shape"}.get(node.attr)
        return _np(name, node.value) if name and isinstance(node.ctx, ast.Load) and self._now() else node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        if isinstance(node.iter, ast.List | ast.Tuple) and self._now():
            renamed = ast.Tuple if isinstance(node.iter, ast.List) else ast.List
            node.iter = renamed(node.iter.elts, ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if all(keyword.arg for keyword in node.keywords):
            self.dice.shuffle(node.keywords)
        (only,) = node.args if len(node.args) == 1 and not node.keywords else (None,)
        if only is None or isinstance(only, ast.Starred):
            return node
        if _is_np(node, "sqrt") and self._now():
            return _np("power", only, ast.Constant(0.5))  # ** would make a Python float of an int, which no list takes
        if _is_np(node, "zeros", "ones", "empty") and self._now():
            return ast.Call(node.func, [], [ast.keyword("shape", only)])
        if ast.unparse(node.func) == "range" and self._now():
            return ast.Call(node.func, [ast.Constant(0), only], [])
        if (
            _is_np(node, "array", "concatenate", "vstack", "hstack", "stack")
            and isinstance(only, ast.List)
            and self._now(0.5)
        ):
            return ast.Call(node.func, [ast.Tuple(only.elts, ast.Load())], [])
        return node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, int | float | complex)


class _Blocks:
    """Goes through blocks of statements: names parts of expressions, changes the order, says what a name is."""

    def __init__(self, dice: random.Random, taken: set[str], shared: set[str]) -> None:
        """``shared`` are names of which a function says that they are not its own."""
        self.dice, self.taken, self.shared = dice, taken, shared

    def go(self, block: list[ast.stmt], inside: bool) -> None:
        """Rewrite a block; ``inside`` of a function."""
        for node in block:
            if isinstance(node, _FUNCTION):
                for argument in node.args.args:
                    if not argument.annotation and self.dice.random() < 0.3:
                        argument.annotation = ast.Constant("array")
                self.go(node.body, True)
            elif isinstance(node, ast.For | ast.While | ast.If | ast.With):
                self.go(node.body, inside)
                self.go(getattr(node, "orelse", []), inside)
        block[:] = [new for node in block for new in self._parts(node, inside)]
        for index in range(len(block) - 1, 0, -1):
            statement, following = block[index - 1 : index + 1]
            if (
                isinstance(statement, ast.Assign)
                and isinstance(following, ast.Assign)
                and _independent(statement, following)
            ):
                pair = [statement, following]
                self.dice.shuffle(pair)
                together = all(isinstance(node.targets[0], ast.Name) for node in pair) and self.dice.random() < 0.4
                block[index - 1 : index + 1] = [_in_one(*pair)] if together else pair

    def _parts(self, node: ast.stmt, inside: bool) -> Iterator[ast.stmt]:
        """A statement, with those before it that give parts of it a name."""
        if isinstance(node, ast.Assign | ast.Return | ast.AugAssign | ast.Expr) and node.value is not None:
            parts: list[ast.stmt] = []
            node.value, _ = self._named(node.value, parts, True, whole=not isinstance(node, ast.Return))
            yield from parts
        name = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        named = inside and isinstance(name, ast.Name) and name.id not in self.shared
        if isinstance(node, ast.Assign) and isinstance(name, ast.Name) and named and self.dice.random() < 0.2:
            yield ast.AnnAssign(name, ast.Constant("array"), node.value, 1)
        else:
            yield node

    def _named(self, node: ast.expr, names: list[ast.stmt], first: bool, whole: bool = False) -> tuple[ast.expr, bool]:
        """An expression with parts of it named in ``found``; whether all calls in it were.

        Only what is evaluated ``first`` is taken out, so that nothing happens in another order.
        """
        if isinstance(node, SEALED):
            return node, False
        if isinstance(node, ast.BinOp):
            node.left, first = self._named(node.left, names, first)
            node.right, first = self._named(node.right, names, first)
        elif isinstance(node, ast.UnaryOp):
            node.operand, first = self._named(node.operand, names, first)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            node.value, first = self._named(node.value, names, first)
        elif isinstance(node, ast.Tuple):
            for index, part in enumerate(node.elts):
                node.elts[index], first = self._named(part, names, first)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                node.func.value, first = self._named(node.func.value, names, first)
            for index, argument in enumerate(node.args):
                node.args[index], first = self._named(argument, names, first)
            for keyword in node.keywords:
                keyword.value, first = self._named(keyword.value, names, first)
        elif not isinstance(node, ast.Name | ast.Constant):
            return node, False
        if first and not whole and isinstance(node, ast.BinOp | ast.Call) and self.dice.random() < 0.6:
            name = self._fresh()
            names.append(ast.Assign([ast.Name(name, ast.Store())], node))
            return ast.Name(name, ast.Load()), True
        return node, first and not isinstance(node, ast.Call)

    def _fresh(self) -> str:
        stem, number = self.dice.choice(FRESH), 0
        while (name := f"{stem}_{number}" if number else stem) in self.taken:
            number += 1
        self.taken.add(name)
        return name


def _in_one(first: ast.Assign, second: ast.Assign) -> ast.Assign:
    """Two assignments in one line."""
    names = ast.Tuple([first.targets[0], second.targets[0]], ast.Store())
    return ast.Assign([names], ast.Tuple([first.value, second.value], ast.Load()))


def _independent(one: ast.Assign, other: ast.Assign) -> bool:
    """Whether two assignments can change places."""
    if not all(len(node.targets) == 1 for node in (one, other)):
        return False
    first, second = (names_of(ast.unparse(ast.fix_missing_locations(node))) for node in (one, other))
    pure = all(_is_pure(node) for node in (one, other))
    if not first or not second or not pure:
        return False
    return not (first.bound & (second.used | second.bound) or second.bound & first.used)


def _is_pure(node: ast.AST) -> bool:
    """Whether nothing is called but NumPy's functions that make something new."""
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    names = {ast.unparse(call.func) for call in calls}
    return all(name.startswith("np.") and "random" not in name for name in names)
