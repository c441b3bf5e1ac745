"""The result of a submission in Gradescope's form: results.json.

Theory of operation. Students read this before the deadline and submit again, so that code could carry out, submission
by submission, what hidden checks call it with. A submission is therefore graded twice. Points and verdicts come of the
tests as they are. The texts of a check come from a run without their hidden lines, in which no code of the student's
can have seen any; it is told by the code of the feedback page (``viva.pages.page``). What only hidden lines show is
told as a verdict and in the instructor's own words. The finished text is searched for hidden lines as a page is. The
score is that of the gradebook
without written answers, which are listed and graded in Gradescope. Where the grader itself failed there is no
score at all: Gradescope then shows a failure, and a grader runs it again.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook
from nbgrader import utils

from viva import wording
from viva.cleaning import plaintext
from viva.course.gradebook.recording import Graded
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed
from viva.engine.blueprint import read_notebook
from viva.pages.exercise import Grade, Line, Question
from viva.pages.hidden import Hidden, Veil, hidden_of
from viva.pages.page import NO_RESPONSE, Marks, Page
from viva.record import NotebookRecord
from viva.verdict import NOT_DONE, Verdict
from viva_gradescope.bundle import Settings

AGAIN = (
    "This submission was not graded, and that is not your fault. Your instructor can see the reason in the "
    "autograder's output, and will grade it again."
)
WITHHELD = "Not shown, because it contains a part of a hidden test."
LONGEST = 2000
"""The most characters about one check."""


def ungraded(reason: str = "") -> dict:
    """The result where the grader or the container is at fault: without a score, which Gradescope takes for a failure.

    A ``reason`` that is ours to tell stands below what students read.
    """
    return {"output": "\n".join(filter(None, (AGAIN, reason))), "visibility": "visible", "stdout_visibility": "hidden"}


def refused(problem: str, notebooks: list[str]) -> dict:
    """The result of what cannot be graded because of what was submitted."""
    names = " and ".join(f"{name}.ipynb" for name in sorted(notebooks))
    sentence = (
        f"Your submission could not be graded: {plaintext.line(problem, LONGEST)}. No check was run, so there are "
        f"no points yet. Open the notebook that you worked in with Jupyter, save it as {names}, and submit that "
        "file again."
    )
    return ungraded() | {"score": 0.0, "output": sentence, "tests": []}


def results(
    passed: Passed, shown: Passed, material: Material, source: Path, settings: Settings, protection: str
) -> dict:
    """The result of a graded submission; ``shown`` is its result without hidden lines.

    ``source`` is the folder of the instructor's notebooks. The result is ``ungraded()`` where a check is.
    """
    if passed.refusal:
        return refused(passed.refusal, list(material.expected.notebooks))
    record, graded = passed.results
    if any(result.verdict is Verdict.UNGRADED for _, _, result in record.results()):
        return ungraded()
    veil, tests, repairs = Veil(material.config), [], []
    numbered = len(material.expected.notebooks) > 1
    for number, (name, book) in enumerate(sorted(material.expected.notebooks.items()), 1):
        prefix = f"{name}: " if numbered else ""
        if name not in passed.notebooks:
            most = sum(cell.max_score for cell in (*book.grade_cells, *book.task_cells))
            tests.append(_test(f"{name}.ipynb", str(number), 0.0, most, "It was not submitted."))
            continue
        page, hidden = _page(name, passed, material, source, veil)
        book_record = (shown.record.notebooks.get(name) if shown.record else None) or NotebookRecord()
        questions = [_shown(question, page, book_record) for question in page.questions()]
        own_tests = list(_tests(questions, prefix, f"{number}." if numbered else "", settings.hidden_checks))
        if hidden.found(html.escape("\0".join(test["output"] for test in own_tests)), page.own().values()):
            own_tests = [test | {"output": WITHHELD} for test in own_tests]
        tests += own_tests
        repairs += wording.sentences(book_record.repairs, wording.STUDENT)
    scores = [score for cells in graded.scores.values() for score, _ in cells.values()]
    sentences = [
        plaintext.line(f"{sentence[:1].upper()}{sentence[1:]}.", LONGEST) for sentence in dict.fromkeys(repairs)
    ]
    if settings.manual_points:
        by_hand = wording.counted(settings.manual_points, "point")
        sentences.append(f"A grader reads the written answers: {by_hand}, not counted here.")
    return ungraded() | {
        "score": round(sum(score or 0.0 for score in scores), 6),
        "output": "\n".join([*sentences, protection]),
        "tests": tests,
    }


def _page(name: str, passed: Passed, material: Material, source: Path, veil: Veil) -> tuple[Page, Hidden]:
    """A graded notebook as its page of feedback would be, and what is hidden in it."""
    notebook = nbformat.reads(passed.notebooks[name], as_version=4)
    tests = [cell for cell in notebook.cells if utils.is_grade(cell) and not utils.is_solution(cell)]
    notebooks = [read_notebook(path) for path in sorted(source.glob("*.ipynb"))]
    hidden = hidden_of([*notebooks, new_notebook(cells=tests)], veil)
    identity = {"student": "", "assignment": material.assignment, "notebook": name}
    record, graded = passed.results
    return Page(notebook, identity, _marks(name, graded, material), record, hidden, veil), hidden


def _shown(question: Question, page: Page, record: NotebookRecord) -> Question:
    """A question whose checks are explained by what is ``record`` without hidden lines."""
    explainer, first = page.explainer(), {check.title: check for check in record.checks.get(question.id, [])}
    lines = []
    for line, result in zip(question.lines, page.known.checks.get(question.id, []), strict=True):
        explanation = explainer.sealed(result)
        if (seen := first.get(result.title)) is not None:
            shown = explainer.explain(seen, True)
            same = (seen.verdict, seen.raised_by) == (result.verdict, result.raised_by)
            explanation = shown if same else replace(explanation, printed=shown.printed)
        lines.append(replace(line, explanation=explanation))
    return replace(question, lines=lines)


def _marks(name: str, graded: Graded, material: Material) -> Marks:
    """What the gradebook would have of the notebook."""
    book, scores = material.expected.notebooks[name], graded.scores[name]
    grades = {}
    for cell in (*book.grade_cells, *book.task_cells):
        score, waiting = scores.get(cell.name, (0.0, False))
        grades[cell.name] = Grade(score or 0.0, cell.max_score or 0.0, waiting, None)
    silent = {cell for cell, remark in graded.remarks.get(name, {}).items() if remark == NO_RESPONSE}
    score, most = (sum(getattr(grade, of) for grade in grades.values()) for of in ("score", "most"))
    return Marks(score, most, 0.0, False, None, None, 0.0, grades, {}, unanswered=frozenset(silent))


def _tests(questions: list[Question], prefix: str, number: str, hidden_checks: str) -> Iterator[dict]:
    """A test for each check and each written answer."""
    for position, question in enumerate(questions, 1):
        number_here, name = f"{number}{position}", prefix + _heading(question)
        if question.manual:
            sentence = "There is no answer." if question.unanswered else "A grader reads this answer."
            yield _test(name, number_here, None, question.grade.most, f"{sentence} Its points are not counted here.")
        elif not question.lines:
            yield _test(name, number_here, question.grade.score, question.grade.most, "There are no results by check.")
        for check, line in enumerate(question.lines, 1):
            test = _test(f"{name}: {line.title}", f"{number_here}.{check}", line.earned, line.points, _told(line))
            yield test if line.visible else test | {"visibility": hidden_checks}


def _test(name: str, number: str, score: float | None, most: float, output: str) -> dict:
    test = {"name": plaintext.line(name), "number": number, "max_score": most, "output": output}
    if score is not None:
        test |= {"score": score, "status": "passed" if score >= most else "failed"}
    return test | {"visibility": "visible"}


def _heading(question: Question) -> str:
    """The heading that a question stands under, as text; the cell's name where a formula is in it."""
    return question.id if "<math" in question.name else question.name.striptags()


def _told(line: Line) -> str:
    """A check as its student reads it: its result, why, where, what was printed."""
    if line.undone:
        return f"{NOT_DONE}: {', '.join(line.undone)}"
    explanation = line.explanation
    parts = [line.words(), explanation.sentence]
    for frame in explanation.frames:
        inside = f", in {frame.function}" if frame.function.isidentifier() else ""
        parts.append(f"{frame.cell}, line {frame.line}{inside}: {frame.code}")
    if explanation.printed:
        parts += ["Your code printed:", explanation.printed]
    return plaintext.lines("\n".join(filter(None, parts)))[:LONGEST]
