from __future__ import annotations

import ast
import json
import re
import shutil

import nbformat
import numpy as np
import pytest
from nbgrader.api import Gradebook

from tests.conftest import PROJECT, SHORT, load
from tests.flow.test_known_answers import ASSIGNMENTS, notebooks
from viva.course.releasing.variants import seeds_of
from viva.pages.reporting.similarity import compare, tokens
from viva_audit.answers import fill_in, read_answer
from viva_audit.demo import LENDER, ROLES, paraphrased, renamed, write_class

DAMAGED, COPIED, UNRUN, REFUSED, PATCHED, LATE, ABSENT = (f"demo-{number:02d}" for number in ROLES)


def files(course):
    return {path.relative_to(course): path.read_bytes() for path in (course / "submitted").rglob("*") if path.is_file()}


def test_the_class_is_the_same_every_time(course, viva):
    assert viva("demo").status == 0
    first = files(course)
    assert viva("demo").status == 0
    assert files(course) == first
    students = {path.parts[1] for path in first}
    assert students == {f"demo-{number:02d}" for number in range(1, 25)} - {ABSENT}


def test_some_are_late_some_hand_nothing_in_and_every_notebook_is_one(course, viva):
    assert viva("demo").status == 0
    opened, _ = load(course)
    late = 0
    for assignment in opened.assignments():
        submissions = opened.submissions([assignment])
        assert 18 <= len(submissions) <= 24
        with opened.gradebook() as gradebook:
            due = gradebook.find_assignment(assignment).duedate
        for submission in submissions:
            (path,) = submission.folder.glob("*.ipynb")
            if submission.student == REFUSED:
                assert path.read_bytes().startswith(b"%PDF")
                continue
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            assert f'NAME = "{submission.student}"' in "\n".join(cell.source for cell in notebook.cells)
            late += opened.directory.get_existing_timestamp(str(submission.folder)) > due
    assert 3 <= late <= 40


def test_only_who_copied_is_alike(course, viva):
    assert viva("demo").status == 0
    for path in sorted(course.glob("release/*/*.ipynb")):
        released = nbformat.read(path, as_version=4)
        own = {c.id for c in released.cells if c.metadata.get("nbgrader", {}).get("solution") and c.cell_type == "code"}
        found = {}
        for copy in sorted(course.glob(f"submitted/*/{path.parent.name}/*.ipynb")):
            if copy.parts[-3] != REFUSED:
                cells = nbformat.read(copy, as_version=4).cells
                found[copy.parts[-3]] = {cell.id: cell.source for cell in cells if cell.id in own}
        given = {cell.id: cell.source for cell in released.cells if cell.cell_type == "code"}
        first, *others = compare(found, given).pairs
        assert {first.first, first.second} == {COPIED, f"demo-{LENDER:02d}"} and first.share > 0.85, path
        assert [pair for pair in others if pair.of >= 20] == [], path  # mistakes of one line are alike by themselves


@pytest.mark.slow
def test_a_class_shows_a_repair_a_doubt_a_refusal_a_fact_and_a_late_one(course, viva):
    said = viva("demo", SHORT)
    assert all(f"{student} " in said.out for student in (DAMAGED, COPIED, UNRUN, REFUSED, PATCHED, LATE, ABSENT))
    roles = [DAMAGED, UNRUN, REFUSED, PATCHED, LATE]
    for path in (course / "submitted").iterdir():
        if path.name not in roles:
            shutil.rmtree(path)
    said = viva("grade", SHORT)
    assert said.status == 0
    assert (
        f"{DAMAGED}: scaled_attention.ipynb: 'test_scaled_attention_sizes' was missing in the submission"
    ) in said.out or (f"{DAMAGED}: scaled_attention.ipynb: 'test_permuted' was missing in the submission" in said.out)
    assert f"{REFUSED}: the file 'scaled_attention.ipynb' is not a notebook but a PDF" in said.out
    assert "begins with %%writefile, so it did not run as Python in the notebook; a grader should check it" in said.out
    records = {r["student"]: r for r in map(json.loads, (course / "results.jsonl").read_text().splitlines())}
    assert "numpy.allclose" in str(records[PATCHED]["notebooks"]["scaled_attention"]["integrity"])
    for student in (DAMAGED, PATCHED, LATE):
        (book,) = records[student]["notebooks"].values()
        verdicts = {result["verdict"] for results in book["checks"].values() for result in results}
        assert verdicts == {"passed"}, student
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(SHORT, LATE).total_seconds_late > 0
        assert gradebook.find_submission(SHORT, UNRUN).needs_manual_grade


def test_a_small_class_has_no_special_students(course, viva):
    said = viva("demo", "--students=3", SHORT)
    assert said.out == f"{SHORT}: 3 submissions by 3 demo students\n"


def test_other_submissions_and_due_dates_are_left_alone(course, viva):
    from datetime import datetime

    mine = course / "submitted" / "anna" / SHORT / "scaled_attention.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    url = f"sqlite:///{course / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(SHORT, duedate=datetime(2030, 1, 1))
    assert viva("demo", "--students=2").status == 0
    assert mine.read_text() == "mine"
    with Gradebook(url) as gradebook:
        assert gradebook.find_assignment(SHORT).duedate == datetime(2030, 1, 1)


def test_an_assignment_without_known_answers_is_said_to_have_none(course, viva):
    (course / "answers" / SHORT).unlink()
    result = viva("demo", SHORT)
    assert result.status == 2
    assert "has none" in result.err


def test_demo_before_release_says_what_to_do(course, viva):
    (course / "gradebook.db").unlink()
    result = viva("demo")
    assert result.status == 2
    assert "Run 'viva release" in result.err


@pytest.mark.slow
def test_the_whole_flow_is_one_command(course, viva):
    said = viva("demo", "--flow", "--students=2", SHORT)
    assert said.status == 0
    steps = ["release --no-audit", "demo", "grade", "feedback", "export", "report"]
    said_steps = [line for line in said.out.splitlines() if line.startswith("$")]
    assert said_steps == [f"$ viva {step} {SHORT}" for step in steps]
    assert len(list(course.glob(f"feedback/*/{SHORT}/*.html"))) == 2
    assert (course / "report" / "index.html").is_file() and (course / "grades.csv").is_file()
    assert json.loads(viva("demo", "--flow", "--students=2", "--json", SHORT).out)["students"] == 2


@pytest.mark.slow
def test_the_demo_class_is_removed_with_all_that_was_made_of_it_and_its_due_dates(course, viva):
    assert viva("demo", "--flow", "--students=2", SHORT).status == 0
    result = viva("demo", "--remove")
    assert (result.status, "Removed: 2 demo students" in result.out) == (0, True)
    assert not [path for name in ("submitted", "autograded", "feedback") for path in (course / name).glob("*")]
    assert not (course / "results.jsonl").exists() and not (course / "grades.csv").exists()
    opened, _ = load(course)
    with opened.gradebook() as gradebook:
        assert gradebook.students == []
        assert {assignment.duedate for assignment in gradebook.assignments} == {None}
    assert viva("demo", "--students=2", SHORT).status == 0, "the assignments are still in the gradebook"


@pytest.mark.parametrize("where", ["submitted", "gradebook"])
def test_the_demo_class_is_not_removed_where_anybody_else_is_in_the_course(course, viva, where):
    assert viva("demo", "--students=2", SHORT).status == 0
    if where == "submitted":
        (course / "submitted" / "anna" / SHORT).mkdir(parents=True)
    else:
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            gradebook.update_or_create_student("anna")
    before = files(course)
    result = viva("demo", "--remove")
    assert result.status == 2
    assert (
        "Nothing was removed, because the course has 1 student outside of the demo class. The first is 'anna'."
        in result.err
    )
    assert files(course) == before


def test_where_an_assignment_has_variants_everybody_has_their_own_and_who_copied_the_others(course):
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('c.Variants.assignments = ["ps4_multihead"]\n')
    opened, _ = load(course)
    write_class(opened, ["ps4_multihead"], size=8)
    seeds = seeds_of(opened, "ps4_multihead")
    found = {
        path.parts[-3]: re.findall(r'"viva_seed = (\d+)', path.read_text())
        for path in course.glob("submitted/*/ps4_multihead/*.ipynb")
    }
    assert len(found) > 5 and COPIED in found
    lender = f"demo-{LENDER:02d}"
    assert found == {who: [str(seeds[lender if who == COPIED else who])] for who in found}


SOURCE = """def softmax_cols(scores):
    largest = np.max(scores, axis=0, keepdims=True)
    weights = np.exp(scores - largest)
    sizes = scores.shape
    return weights / np.sum(weights, axis=0, keepdims=True) + 0 * sizes[0]

data = np.array([[1.0, 2.0], [3.0, 5.0]])
table = data.T @ softmax_cols(data) / np.sqrt(2)
rows = [row @ row for row in [data[0], data[1]]]
means = [1, 2] / np.sqrt(len(rows))
"""
RIGHT = {name: sorted(PROJECT.glob(f"answers/{name}/right/*.py")) for name in ASSIGNMENTS}


def values(source: str) -> dict:
    space = {"np": np}
    exec(source, space)
    return space


@pytest.mark.parametrize("seed", range(25))
def test_another_wording_computes_the_same_and_is_the_same_every_time(seed):
    text = paraphrased(SOURCE, str(seed))
    assert text == paraphrased(SOURCE, str(seed))
    before, after = values(SOURCE), values(text)
    assert np.allclose(after["table"], before["table"]) and np.allclose(after["rows"], before["rows"])
    assert np.allclose(after["means"], before["means"])


def test_wordings_differ_and_leave_given_names_alone():
    texts = {paraphrased(SOURCE, str(seed), taken={"part"}) for seed in range(10)}
    assert len(texts) == 10
    for text in texts:
        assert not any(isinstance(node, ast.Name) and node.id == "part" for node in ast.walk(ast.parse(text)))


@pytest.mark.parametrize("source", ["%%timeit\nx = 1", "def f(:", "class A:\n    x = 1 @ 2"])
def test_what_it_cannot_say_otherwise_stays_as_it_is(source):
    assert paraphrased(source, "1") == source


def test_other_names_change_nothing_else():
    text = renamed(SOURCE)
    assert "my_weights" in text and "my_scores" not in text
    assert [sign for sign, *_ in tokens(text)] == [sign for sign, *_ in tokens(ast.unparse(ast.parse(SOURCE)))]
    assert np.allclose(values(text)["table"], values(SOURCE)["table"])


def lost(path, grader, examination, assignment, seed):
    blueprint, release = notebooks(assignment)
    notebook = fill_in(read_answer(path), release, blueprint)
    taken = {name for cell in notebook.cells for name in cell.source.replace("(", " ").split()}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            cell.source = paraphrased(cell.source, f"{seed} {cell.id}", taken)
    outcome = grader.grade(notebook, examination(assignment))
    return [one for results in outcome.checks.values() for one in results if one.earned < one.points]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_first_right_answers_in_other_words_are_right(assignment, grader, examination):
    for place, path in enumerate(RIGHT[assignment][:4]):
        assert lost(path, grader, examination, assignment, place % 2) == [], path
