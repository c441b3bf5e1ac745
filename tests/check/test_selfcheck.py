"""A student's own check says of what is visible what the grader will say, and what `nbgrader validate` says."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from tests import handmade
from tests.conftest import BIN, PROJECT, SHORT
from tests.flow.shell import lost_checks
from tests.flow.test_known_answers import ANSWERS, ASSIGNMENTS, notebooks
from tests.oral import Exam, thinned
from viva.engine.blueprint import read_blueprint
from viva.engine.checks import HIDDEN
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.language import ENGLISH
from viva.sandbox.confinement import GB, MB, USUAL, Limits
from viva.sandbox.protection import protection
from viva.submission.studentcopy import SECONDS, describe, open_copy
from viva.verdict import NOT_DONE, VivaError
from viva_audit.answers import fill_in, read_answer
from viva_check import selfcheck
from viva_check.checkcommand import CheckCommand, _sums

HIDING = re.compile(r"^[^\n]*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def own_grader():
    """As a student's machine has it: without a sandbox."""
    grader = Grader(libraries=("numpy", "matplotlib.pyplot"))
    yield grader
    grader.close()


def write(notebook, folder) -> Path:
    path = folder / "mine.ipynb"
    nbformat.write(notebook, path)
    return path


def check(path, grader, original=None):
    copy = selfcheck.open_bytes(selfcheck.read_bytes(path), path, original)
    tried, faults = selfcheck.practise(copy, grader, path.parent)
    assert not faults
    return copy, tried


def by_place(tried):
    return {(one.cell, one.title): one.verdict for one in tried if one.verdict}


def filled(assignment, name):
    blueprint, release = notebooks(assignment)
    return fill_in(read_answer(PROJECT / "answers" / assignment / f"{name}.py"), release, blueprint), blueprint


def named(case):
    """The id of a test of an answer to an assignment."""
    return f"{case[0]}-{case[1].name}"


FIRST = dict(reversed(ANSWERS))
SOME = [case for case in ANSWERS if case[1] is FIRST[case[0]] or case[1].name == "only_the_first_answers"]
MANY, VALIDATED = ANSWERS[::32], [case for case in SOME if case[0] == SHORT] + ANSWERS[1::32]
"""Known answers that lie side by side make much the same mistake, and `make audit` grades all."""


def agrees(assignment, answer, own_grader, grader, examination, folder):
    """Where a check has no hidden line, the verdicts are one.

    Hidden lines in it can make the grader stricter, or forgive what follows from an earlier mistake.
    """
    blueprint, release = notebooks(assignment)
    notebook = fill_in(answer, release, blueprint)
    _, tried = check(write(notebook, folder), own_grader)
    mine = by_place(tried)
    graded = grader.grade(notebook, examination).checks
    theirs = {(cell, one.title): str(one.verdict) for cell, results in graded.items() for one in results}
    mistaken = False
    for cell, one in blueprint.checks():
        place = (cell.id, one.title)
        forgiven = mistaken and theirs[place] == "passed"
        mistaken |= theirs[place] != "passed"
        assert (place not in mine) == one.hidden, place
        if one.hidden:
            continue
        if HIDDEN.search(one.source) or HIDDEN.search(cell.prelude):
            assert mine[place] == theirs[place] or mine[place] == "passed" or forgiven, place
        else:
            assert mine[place] == theirs[place], place
    return notebook, mine


@pytest.mark.parametrize(("assignment", "answer"), SOME, ids=map(named, SOME))
def test_its_verdicts_are_the_graders_for_what_is_visible(
    assignment, answer, own_grader, grader, examination, tmp_path
):
    agrees(assignment, answer, own_grader, grader, examination(assignment), tmp_path)


@pytest.mark.parametrize(("assignment", "answer"), MANY, ids=map(named, MANY))
def test_its_verdicts_are_the_graders_for_known_answers_and_in_one_plain_process(
    assignment, answer, own_grader, grader, examination, tmp_path
):
    notebook, mine = agrees(assignment, answer, own_grader, grader, examination(assignment), tmp_path)
    lost = set(lost_checks(notebook, visible_blueprint(assignment, tmp_path)))
    assert {place for place, verdict in mine.items() if verdict != "passed"} == {one for one in lost if one in mine}


def visible_blueprint(assignment, folder):
    """The blueprint without hidden lines."""
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        cell.source = HIDING.sub("", cell.source)
    path = folder / "visible.ipynb"
    nbformat.write(notebook, path)
    return read_blueprint(path)


@pytest.mark.thorough
@pytest.mark.parametrize(("assignment", "answer"), thinned(VALIDATED), ids=map(named, VALIDATED))
def test_nbgrader_validate_fails_the_cells_with_a_visible_check_that_fails(assignment, answer, own_grader, tmp_path):
    from nbgrader.validator import Validator

    blueprint, release = notebooks(assignment)
    notebook = fill_in(answer, release, blueprint)
    path = write(notebook, tmp_path)
    _, tried = check(path, own_grader)
    failing = {one.cell for one in tried if one.counts and not one.passed}
    try:
        found = Validator().validate(str(path))
    except RuntimeError:  # two kernels that looked for a free port at once found the same one
        found = Validator().validate(str(path))
    failed = [cell["source"] for cell in found.get("failed", [])]
    assert not found.keys() - {"failed"}
    cells = {cell.source.strip(): cell.id for cell in notebook.cells}
    assert {cells[source] for source in failed} - written(notebook) == failing


def written(notebook):
    """Cells that a person grades: nbgrader counts them as failed until somebody has."""
    return {cell.id for cell in notebook.cells if cell.cell_type == "markdown"}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_a_release_says_about_its_checks_holds_no_name_that_is_hidden(assignment):
    _, release = notebooks(assignment)
    about = release.metadata.viva.check
    code = "\n".join(cell.source for cell in release.cells if cell.cell_type == "code")
    words = set(re.findall(r"\w+", code))
    ids = {cell.id for cell in release.cells}
    said = set(re.findall(r"[^\W\d]\w*", json.dumps([list(about.owned.values()), list(about.kinds)])))
    assert said <= words | {"changed", "handed"}
    for kind in about.kinds.values():
        kind, _, positions = kind.partition(" in ")
        assert kind in {"plain", "plain, never empty", "", "any"}
        assert set(re.findall(r"[^\W\d]\w*", positions)) <= words
    assert {*about.owned, *about.given, *about.inside, *about.cells} <= ids


@pytest.mark.usefixtures("processes")
def test_a_release_does_not_say_from_where_the_solution_took_a_function(own_grader, tmp_path):
    source = notebook_of(
        answer="### BEGIN SOLUTION\nfrom math import comb as pick\nsecret = 3\n### END SOLUTION",
        tests="assert pick(4, 2) == 6\n### BEGIN HIDDEN TESTS\nassert pick(secret, 1) == 3\n### END HIDDEN TESTS",
    )
    released = notebook_of(answer="# YOUR CODE HERE\nraise NotImplementedError()", tests="assert pick(4, 2) == 6\n")
    path = tmp_path / "source.ipynb"
    nbformat.write(source, path)
    known = rehearse(path, own_grader, None, {"test_it": "assert pick(4, 2) == 6\n"})
    said = json.dumps(describe(released, known, 30.0))
    assert "pick" in said
    for hidden in ("math", "comb", "secret"):
        assert hidden not in said


@pytest.mark.usefixtures("processes")
def test_a_release_does_not_name_a_key_of_the_solutions_dictionary_that_only_hidden_lines_name(own_grader, tmp_path):
    source = notebook_of(
        answer="### BEGIN SOLUTION\ndef it():\n    return {'seen': 1, 'secret': 2}\n### END SOLUTION",
        tests="assert it()['seen'] == 1\n### BEGIN HIDDEN TESTS\nassert it()['secret'] == 2\n### END HIDDEN TESTS",
    )
    visible = "assert it()['seen'] == 1\n"
    released = notebook_of(answer="# YOUR CODE HERE\nraise NotImplementedError()", tests=visible)
    nbformat.write(source, tmp_path / "source.ipynb")
    about = describe(released, rehearse(tmp_path / "source.ipynb", own_grader, None, {"test_it": visible}), 30.0)
    assert about["kinds"]["it()"] == "plain, never empty in seen"


@pytest.mark.usefixtures("processes")
def test_where_the_solution_shows_nothing_an_answer_in_another_order_passes_the_check_too(own_grader, tmp_path):
    tests = "import numpy as np\nfor part in it():\n    assert np.allclose(part, 2)\n"
    answer = "import numpy as np\ndef it():\n    return [np.array({}), np.array({})]"
    source = notebook_of(answer.format("[]", "[2.0]"), tests)
    nbformat.write(source, tmp_path / "source.ipynb")
    about = describe(source, rehearse(tmp_path / "source.ipynb", own_grader), 30.0)
    assert list(about["looks"]) == ["test_it"]
    for parts, passed in ((("[2.0]", "[]"), True), (("[]", "[]"), False)):
        _, (tried,) = check(write(notebook_of(answer.format(*parts), tests, about), tmp_path), own_grader)
        assert tried.passed == passed


def notebook_of(answer, tests, about=None):
    from nbformat.v4 import new_notebook

    cells = [handmade.answer("it", answer), handmade.graded("test_it", tests, 1)]
    return new_notebook(cells=cells, metadata=handmade.PYTHON | ({"viva": {"check": about}} if about else {}))


@pytest.mark.usefixtures("processes")
def test_what_pythons_library_looks_at_of_a_right_answer_passes_the_check_as_it_does_in_grading(own_grader, tmp_path):
    tests = "import inspect\nassert inspect.isgeneratorfunction(it) and next(it()) == 0"
    nbformat.write(notebook_of("def it(a=0):\n    yield a", tests), tmp_path / "source.ipynb")
    about = describe(notebook_of("", tests), rehearse(tmp_path / "source.ipynb", own_grader), 30.0)
    assert about["kinds"]["it.__code__"] == ""
    copy, (tried,) = check(write(notebook_of("def it():\n    yield from range(3)", tests, about), tmp_path), own_grader)
    assert tried.passed
    assert _sums(copy, [tried]) == ["1 of 1 visible check passes."], "this notebook has no hidden line"


MAGIC = """
class Always:
    def __eq__(self, other):
        return True
    __hash__ = None
def it():
    return Always()
"""


@pytest.mark.usefixtures("processes")
def test_an_object_of_a_students_class_does_not_pass_for_a_number(own_grader, tmp_path):
    source = notebook_of("def it():\n    return 1", "assert it() == 1, 'it is 1'")
    nbformat.write(source, tmp_path / "source.ipynb")
    known = rehearse(tmp_path / "source.ipynb", own_grader)
    about = describe(source, known, 30.0)
    tests = "assert it() == 1, 'it is 1'"
    _, (tried,) = check(write(notebook_of(MAGIC, tests, about), tmp_path), own_grader)
    assert tried.verdict == "failed"
    assert "should be plain data" in tried.hint
    copy, (tried,) = check(write(notebook_of(MAGIC, tests), tmp_path), own_grader)
    assert tried.passed
    assert not copy.described, "and the student is told that kinds are not known"
    assert _sums(copy, [tried])[1] == "Hidden checks also count."
    _, (tried,) = check(write(notebook_of("def it():\n    return 2", tests, about), tmp_path), own_grader)
    assert (tried.state, tried.hint) == ("failed", "it is 1")


LARGE = "import numpy as np\ndef it():\n    return int(np.ones(300_000_000)[-1])"
"""Needs 2.4 GB, more than a process usually gets."""


@pytest.mark.thorough
def test_a_course_that_allows_more_memory_allows_it_to_the_students_own_check(tmp_path):
    source = notebook_of("def it():\n    return 1", "assert it() == 1, 'it is 1'")
    nbformat.write(source, tmp_path / "source.ipynb")
    with contextlib.closing(Grader(libraries=("numpy",), limits=Limits(memory_bytes=4 * GB))) as grader:
        known = rehearse(tmp_path / "source.ipynb", grader)
        about = describe(source, known, 30.0, grader.limits.memory_bytes)
    assert about["memory"] == 4096
    for said, verdict in ((about, "passed"), (about | {"memory": 2048}, "error")):
        write(notebook_of(LARGE, "assert it() == 1, 'it is 1'", said), tmp_path)
        document = json.loads(run("mine.ipynb", "--json", cwd=tmp_path).stdout)
        assert [one["verdict"] for one in document["checks"]] == [verdict]


def tampered(tmp_path, **about):
    """The copy of a release that says something else about its checks, and the path to it."""
    known = {"given": [], "inside": [], "owned": {}, "kinds": {}, "cells": {}, "seconds": 30} | about
    path = write(notebook_of("it = 1", "assert it == 1", known), tmp_path)
    return selfcheck.open_bytes(path.read_bytes(), path), path


@pytest.mark.parametrize("megabytes", [64, 4096, 1 << 20])
def test_a_limit_of_memory_that_a_course_may_have_is_taken_from_the_notebook(megabytes, tmp_path):
    copy, _ = tampered(tmp_path, memory=megabytes)
    assert (copy.described, copy.memory) == (True, megabytes * MB)


@pytest.mark.parametrize(
    "about",
    [
        *({"memory": value} for value in (True, -1, 0, 63, 2**20 + 1, 10**30, "2", 1.5, math.nan, [2], None)),
        *({"seconds": value} for value in (True, -1, 0, 10**30, "2", math.nan, math.inf, [2], None)),
    ],
    ids=repr,
)
def test_a_limit_that_no_course_has_counts_as_a_notebook_that_says_nothing(about, tmp_path):
    copy, _ = tampered(tmp_path, **about)
    assert (copy.described, copy.memory, copy.seconds) == (False, USUAL.memory_bytes, SECONDS)


@pytest.mark.parametrize("seconds", [True, -1, 0, 10**30, "2", math.nan, math.inf, [2]])
def test_a_cells_own_limit_of_time_that_is_none_does_not_count(seconds, tmp_path):
    notebook = notebook_of("it = 1", "assert it == 1")
    for place in (notebook, notebook.cells[0]):
        place.metadata["viva"] = {"seconds": seconds}
    copy = open_copy(notebook)
    assert [cell.seconds for cell in copy.examination.blueprint.cells] == [None, None]


@pytest.mark.usefixtures("processes")
def test_a_notebook_whose_limits_were_tampered_with_is_checked(tmp_path):
    _, path = tampered(tmp_path, memory=10**30, seconds=10**30)
    result = run(path.name, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert (
        "1 of 1 visible check passes" in result.stdout
        and "This notebook does not say which types the answers must have, so" in result.stdout
    )


@pytest.mark.usefixtures("processes")
def test_a_wrong_answer_is_no_stub_though_a_later_stub_binds_the_same_names(own_grader, tmp_path):
    name = "ps1_general_attention"
    notebook, _ = filled(name, "wrong/only_the_first_answers")
    change(notebook, "vectors", "query_1 = key_1 = value_1 = 1")
    change(notebook, "scores_word_1", "scores = [1, 2]")
    _, tried = check(write(notebook, tmp_path), own_grader)
    states = {one.cell: one.state for one in tried if one.counts}
    assert states["test_scores_word_1"] in ("failed", "error")
    assert states["test_general_attention"] == NOT_DONE


@pytest.mark.usefixtures("processes")
def test_a_notebook_that_was_released_without_viva_is_checked_too(own_grader, tmp_path):
    notebook, _ = filled(SHORT, "right/einsum")
    del notebook.metadata["viva"]
    _, tried = check(write(notebook, tmp_path), own_grader)
    assert all(one.passed for one in tried if one.counts)
    _, release = notebooks("ps1_general_attention")
    del release.metadata["viva"]
    _, tried = check(write(release, tmp_path), own_grader)
    assert {one.state for one in tried if one.counts} == {NOT_DONE}


COUNTING = """
--- answer
def f(x): return x + 1
--- test
### CHECK 2: two sums
(f(1) == 2) + (f(2) == 3)
--- answer
items = []
def push(x): items.append(x)
--- test
### CHECK 3: nothing to count
push(1)
--- answer
def g(x): return x * 2
--- test
### CHECK 2: half of it is hidden
int(g(1) == 2)
"""


@pytest.mark.usefixtures("processes")
def test_a_part_of_the_points_is_partly_right_where_the_visible_lines_alone_can_give_all(own_grader, tmp_path, capsys):
    exam = Exam(COUNTING, own_grader, tmp_path)
    notebook = exam.answered("def f(x): return 2")
    notebook.metadata["viva"] = {"check": describe(notebook, exam.examination, SECONDS)}
    assert notebook.metadata["viva"]["check"]["credit"] == ["test-1"]
    notebook.cells[2].source = "items = []\ndef push(x):\n    items.append(x)\n    return len(items)\n"
    path = write(notebook, tmp_path)
    copy, tried = check(path, own_grader)
    assert [(one.state, one.passed) for one in tried] == [("partly right", False), ("passed", True), ("passed", True)]
    CheckCommand()._print(path, copy, tried)
    said = " ".join(capsys.readouterr().out.split())
    assert "partly right 2 two sums the test gave 1 of 2 points" in said
    assert "2 of 3 visible checks pass, 1 partly right." in said


@pytest.mark.usefixtures("processes")
def test_stubs_are_not_done_yet_and_the_first_answer_alone_is_checked(own_grader, tmp_path):
    notebook, _ = filled(SHORT, "wrong/only_the_first_answers")
    _, tried = check(write(notebook, tmp_path), own_grader)
    states = {one.cell: {other.state for other in tried if other.cell == one.cell and other.counts} for one in tried}
    assert states["test_self_attention"] == {"passed"}
    assert states["test_scaled_attention"] == {NOT_DONE}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.usefixtures("processes")
def test_an_untouched_notebook_is_not_done_yet_and_nothing_in_it_is_an_error(assignment, own_grader, tmp_path):
    _, release = notebooks(assignment)
    _, tried = check(write(release, tmp_path), own_grader)
    assert {one.state for one in tried if one.counts} == {NOT_DONE}


def change(notebook, name, source):
    next(cell for cell in notebook.cells if cell.id == name).source = source


@pytest.mark.usefixtures("processes")
def test_changed_and_deleted_test_cells_do_not_pass_unless_the_original_is_there(own_grader, tmp_path):
    notebook, _ = filled(SHORT, "right/einsum")
    change(notebook, "test_permuted", "pass")
    notebook.cells = [cell for cell in notebook.cells if cell.id != "test_scaled_attention"]
    path = write(notebook, tmp_path)
    _, tried = check(path, own_grader)
    unchecked = {one.cell for one in tried if one.counts and not one.passed}
    assert unchecked == {"test_permuted", "test_scaled_attention"}
    original = PROJECT / "release" / SHORT / "scaled_attention.ipynb"
    copy, tried = check(path, own_grader, original)
    assert all(one.passed for one in tried if one.counts)
    assert any("was edited; the released text was restored" in sentence for sentence in copy.remarks)
    assert any("was restored as released" in sentence for sentence in copy.remarks)


@pytest.mark.usefixtures("processes")
def test_a_copied_test_cell_earns_nothing_and_files_beside_the_notebook_are_there(own_grader, tmp_path):
    tests = "assert it() == 'hello', 'read words.txt'"
    notebook = notebook_of("def it():\n    return open('words.txt').read()", tests)
    notebook.cells.append(nbformat.from_dict(notebook.cells[1] | {"id": "again", "source": "assert False"}))
    (tmp_path / "words.txt").write_text("hello")
    _, (tried,) = check(write(notebook, tmp_path), own_grader)
    assert tried.passed


def test_a_notebook_without_test_cells_is_refused_in_a_sentence():
    from nbformat.v4 import new_notebook

    with pytest.raises(VivaError, match="has no test cells"):
        open_copy(new_notebook())


def run(*arguments, cwd, **env):
    command = [f"{BIN}/viva", "check", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, env=os.environ | env
    )


@pytest.mark.thorough
def test_the_command_needs_no_course_and_its_status_tells(tmp_path):
    right = write(filled(SHORT, "right/einsum")[0], tmp_path)
    result = run(right.name, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "18 of 18 visible checks pass" in result.stdout
    assert "Hidden checks are worth" not in result.stdout
    assert "Visible checks for 18 points have hidden lines, too." in result.stdout
    assert "\x1b" not in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine.ipynb"]
    shutil.copy(PROJECT / "release" / SHORT / "scaled_attention.ipynb", right)
    result = run(right.name, "--json", cwd=tmp_path)
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert {one["state"] for one in document["checks"]} == {NOT_DONE}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("mine.pdf", b"%PDF-1.4", "mine.pdf is not a notebook but a PDF."),
        ("mine.ipynb", b"", "mine.ipynb is empty."),
        ("mine.ipynb", b'{"a": 1}', "is not a notebook"),
        ("mine.ipynb", None, "The file mine.ipynb does not exist."),
    ],
)
@pytest.mark.usefixtures("processes")
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path, name, content, sentence):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = run(name, cwd=tmp_path)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("processes")
def test_a_damaged_notebook_is_checked_as_far_as_it_is_whole_and_said_to_be_damaged(own_grader, tmp_path):
    notebook, _ = filled(SHORT, "right/einsum")
    text = nbformat.writes(notebook)
    path = tmp_path / "mine.ipynb"
    path.write_text(text[: int(len(text) * 0.97)])
    copy, tried = check(path, own_grader)
    assert any("the JSON is damaged at" in sentence for sentence in copy.remarks)
    assert any(one.passed for one in tried)


@pytest.mark.usefixtures("processes")
def test_neither_nbgrader_nor_what_takes_long_is_loaded_for_it():
    program = (
        "import sys; from viva.__main__ import main; sys.argv[1:] = ['check', 'none.ipynb']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "from viva_check import selfcheck\n"
        "print([name for name in ('nbgrader', 'pandas', 'scipy', 'matplotlib', 'sqlalchemy') if name in sys.modules])"
    )
    result = subprocess.run([f"{BIN}/python", "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.usefixtures("processes")
def test_the_limits_of_grading_hold_without_a_sandbox(own_grader, tmp_path):
    _, (tried,) = check(write(notebook_of("it = bytearray(3 << 30)", "assert len(it) > 0"), tmp_path), own_grader)
    assert tried.verdict in ("error", "killed")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("def it()\n    return 1", ["line 1: expected ':'", "def it()"]),
        ("\n\ndef it():\n    return (1", ["line 4: '(' was never closed", "return (1"]),
        ("%matplotlib inline\n\ndef it():\n    return (1", ["line 4: '(' was never closed", "return (1"]),
        ("%time x = 1\ndef it():\n    return x", []),
        ("%%time\n!ls\ndef it():\n    return 1", []),
    ],
)
@pytest.mark.usefixtures("processes")
def test_an_answer_that_is_not_python_is_named_with_what_python_says_of_it(answer, said, own_grader, tmp_path):
    _, (tried,) = check(write(notebook_of(answer, "assert it() == 1, 'it is 1'"), tmp_path), own_grader)
    again = ENGLISH.text("check.correct")
    expected = [f"The cell 'it' has a syntax error in {said[0]}.", said[1], again] if said else []
    assert tried.hint.splitlines() == expected


RAISING = "def it(x=1):\n    # my way\n    if x < 2:\n        return [1] + x\n    return x"
TWICE = "### CHECK 0.5: one\nassert it() == 1\n### CHECK 0.5: one again\nassert it(1) == 1"


@pytest.mark.usefixtures("processes")
def test_an_error_names_the_students_own_line_and_is_told_once(own_grader, tmp_path):
    path = write(notebook_of(RAISING, TWICE), tmp_path)
    _, tried = check(path, own_grader)
    assert [one.place for one in tried] == ["line 4 of 'it': return [1] + x"] * 2
    assert selfcheck.told(tried) == [
        ['2 times: TypeError: can only concatenate list (not "int") to list', "line 4 of 'it': return [1] + x"],
        ["as above"],
    ]


@pytest.mark.usefixtures("processes")
def test_the_lines_of_tests_are_no_lines_of_the_students(own_grader, tmp_path):
    tests = "secret = 3\ndef ask():\n    return it() + secret.nothing\nassert ask() == 1"
    _, (tried,) = check(write(notebook_of("def it():\n    return 1", tests), tmp_path), own_grader)
    assert (tried.state, tried.place) == ("error", "")
    assert selfcheck.told([tried]) == [["AttributeError: 'int' object has no attribute 'nothing'"]]


SPYING = """import os, pathlib
def it():
    {pathlib.Path(place).write_text('x') for place in PLACES if os.access(os.path.dirname(place), os.W_OK)}
    return 1"""


def spying(folder: Path, place: Path) -> Path:
    """A notebook whose answer writes a file outside of its own folder."""
    return write(notebook_of(SPYING.replace("PLACES", repr([str(place)])), "assert it() == 1"), folder)


@pytest.mark.usefixtures("processes")
def test_the_command_uses_the_sandbox_where_there_is_one(tmp_path):
    (tmp_path / "course").mkdir()
    path = spying(tmp_path / "course", tmp_path / "RAN")
    done = run(path.name, "--json", cwd=path.parent)
    assert json.loads(done.stdout)["checks"], done.stderr
    assert (tmp_path / "RAN").exists() == (protection().level == "none")


@pytest.mark.parametrize("portable", [True, False])
@pytest.mark.usefixtures("processes")
def test_without_a_sandbox_a_students_notebook_is_not_run_in_its_course(tmp_path, monkeypatch, capsys, portable):
    monkeypatch.setattr(selfcheck, "sandboxes", lambda: None)
    course = tmp_path / "course"
    (course / "source" / "hw").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text("")
    for place in ("submitted/ann/hw", "autograded/ann/hw", "unmatched/hw", "attempts/ann/hw/1"):
        (course / place).mkdir(parents=True)
        path = spying(course / place, tmp_path / "RAN")
        assert _asked(path, portable) == 2
        said = capsys.readouterr()
        assert "was not checked, because it is in a folder with files of students of the course" in said.err
        assert not (tmp_path / "RAN").exists() and not said.out
    (course / "release" / "hw").mkdir(parents=True)
    assert _asked(spying(course / "release" / "hw", tmp_path / "RAN"), portable) == 0, "it is the instructor's own"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.usefixtures("processes")
def test_without_a_sandbox_another_users_notebook_is_not_run_but_a_copy_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(selfcheck, "sandboxes", lambda: None)
    path = spying(tmp_path, tmp_path / "RAN")
    os.chown(path, 12345, 12345)
    assert _asked(path) == 2 and "it belongs to another user" in capsys.readouterr().err
    assert not (tmp_path / "RAN").exists()
    (tmp_path / "own").mkdir()
    assert _asked(Path(shutil.copyfile(path, tmp_path / "own" / "mine.ipynb"))) == 0


def _asked(path: Path, portable: bool = False) -> int:
    """The exit status of the command."""
    command = CheckCommand()
    try:
        command.initialize([str(path), *(["--portable"] if portable else [])])
        command.start()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0
