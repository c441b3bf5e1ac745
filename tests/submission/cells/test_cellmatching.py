"""A student's cell stays as the student wrote it: an answer is whole and in its place, a locked cell runs once."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.mangling import as_utf8, plain
from tests.oral import Exam, lost
from tests.submission.cells.test_repair import CASES, ONE, bare, below, find, repaired, source
from viva.record import doubtful
from viva.submission.cells.places import Released
from viva.submission.cells.repair import ELSEWHERE, Repaired, repair
from viva.submission.cells.texts import squeezed
from viva.submission.files.salvage import read
from viva.wording import sentences

STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


@dataclass
class Course:
    """An exam whose answers were replaced by stubs for its students."""

    exam: Exam
    release: NotebookNode

    def handed_in(self, **answers: str) -> dict:
        """The release with some answers filled in, as JSON."""
        notebook = plain(self.release)
        for cell in notebook["cells"]:
            cell["source"] = answers.get(cell["id"].replace("-", "_"), cell["source"])
        return notebook

    def repaired(self, notebook: dict) -> Repaired:
        return repair(read(as_utf8(notebook))[0], Released(copy.deepcopy(self.release)))

    def lost(self, notebook: dict) -> tuple[set[str], set[str]]:
        """The tests that a submission does not pass, and those that wait for a human."""
        result = self.repaired(notebook)
        outcome = self.exam.grader.grade(result.notebook, self.exam.examination)
        assert outcome.faults == []
        return {cell for cell, _ in lost(outcome)}, set(doubtful(result.repairs))


def course(grader, folder, text: str, **stubs: str) -> Course:
    exam = Exam(text, grader, folder)
    release = copy.deepcopy(exam.notebook)
    for cell in release.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = stubs.get(cell.id.replace("-", "_"), STUB)
    return Course(exam, release)


TWO = "--- answer\n{}\n--- test\nassert {}\n--- answer\n{}\n--- test\nassert {}\n"
PAIRS = {
    "a loop goes on with a name": ("n = 0\nfor _ in range(3):\n    n += 1", "n == 3", "n = 6", "n == 6"),
    "a name is bound anew": (
        "words = 'b a'.split()\nwords = sorted(words)",
        "words == ['a', 'b']",
        "words = list(words)[::-1]",
        "words == ['b', 'a']",
    ),
    "a name is None first": ("x = None\nx = 2 + 3", "x == 5", "x = 7", "x == 7"),
    "a function is defined twice": (
        "def f(n):\n    return 1\n\ndef f(n):\n    return 2 * n",
        "f(2) == 4",
        "def f(n):\n    return 3 * n",
        "f(2) == 6",
    ),
    "data are filtered": (
        "data = [1, 2, 3]\ndata = [one for one in data if one > 1]",
        "len(data) == 2",
        "data = data[:1]",
        "len(data) == 1",
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_an_unanswered_question_takes_nothing_from_the_answer_to_another(grader, tmp_path, pair):
    one = course(grader, tmp_path, TWO.format(*PAIRS[pair]))
    notebook = one.handed_in(answer_0=PAIRS[pair][0])
    assert [cell.source for cell in one.repaired(notebook).notebook.cells] == [
        cell["source"] for cell in notebook["cells"]
    ]
    assert one.lost(notebook)[0] == {"test-3"}
    assert one.lost(one.handed_in(answer_0=PAIRS[pair][0], answer_2=PAIRS[pair][2]))[0] == set()


def test_two_stubs_that_begin_with_the_same_long_line_are_two_answers(grader, tmp_path):
    line = "values = list(range(10, 20, 2))"
    one = course(
        grader,
        tmp_path,
        TWO.format(f"{line}\na = values[0]", "a == 10", f"{line}\nb = values[1]", "b == 12"),
        answer_0=f"{line}\n{STUB}",
        answer_2=f"{line}\n{STUB}",
    )
    mine = f"# first\n{line}\na = values[0]\n\n{line}\nb = 0"
    assert source(one.repaired(one.handed_in(answer_0=mine)), "answer-0") == mine
    assert one.lost(one.handed_in(answer_0=mine))[0] == {"test-3"}


@pytest.mark.parametrize("assignment", ["ps1_general_attention", "ps5_sentence"])
def test_whatever_answers_are_left_out_the_others_stay_word_for_word(assignment):
    """Measured on public courses it was otherwise for one in seven of what was left out."""
    case = CASES[assignment][0]
    stubs = {cell["id"]: cell["source"] for cell in plain(case.release)["cells"]}
    answers = [slot.cell.id for slot in case.released.slots if slot.answers]
    for out in [*({name} for name in answers), *(set(answers[k:]) for k in range(1, len(answers)))]:
        notebook = plain(case.full)
        for cell in notebook["cells"]:
            cell["source"] = stubs[cell["id"]] if cell["id"] in out else cell["source"]
        result = repaired(notebook, case)
        assert [cell.source for cell in result.notebook.cells] == [cell["source"] for cell in notebook["cells"]]
        assert sentences(result.repairs) == []


def test_a_scratch_cell_that_begins_with_spaces_is_no_half_of_the_class_above_it(grader, tmp_path):
    """IPython takes the spaces away, and runs it."""
    head = "class Head:\n    size = 4\n\n    def double(self):\n        return 2 * self.size"
    one = course(grader, tmp_path, f"--- answer\n{head}\n--- test\nassert Head().double() == 8\n")
    notebook = one.handed_in(answer_0=head)
    below(notebook, "answer-0", "    head = Head()\n    head.double()")
    assert one.lost(notebook)[0] == set()
    assert source(one.repaired(notebook), "answer-0") == head


BOTH = "def f(x):\n    return 2 * x\n\ng = f(step)"


@pytest.mark.parametrize("with_test", [False, True])
@pytest.mark.parametrize("runs_at", ["answer-1", "answer-0"])
def test_a_cell_without_identity_that_answers_two_exercises_runs_at_the_first(grader, tmp_path, runs_at, with_test):
    """As in a notebook of one's own, without the assignment's cells; but not above a cell that it needs."""
    given, first = "--- given\nstep = 1\n", "--- answer\ndef f(x):\n    return 2 * x\n--- test\nassert f(1) == 2\n"
    text = given + first if runs_at == "answer-1" else first + given
    one = course(grader, tmp_path, f"{text}--- answer\ng = f(step)\n--- test\nassert g == 2\n")
    notebook = one.handed_in()
    tests = [cell for cell in notebook["cells"] if cell["id"].startswith("test")] if with_test else []
    own = {"cell_type": "code", "metadata": {}, "source": BOTH, "outputs": [], "execution_count": None}
    notebook["cells"] = [*tests[:1], own, *tests[1:]]
    notebook = bare(notebook)
    lost_tests, doubted = one.lost(notebook)
    if runs_at == "answer-1":
        assert (source(one.repaired(notebook), runs_at), lost_tests) == (BOTH, set())
    else:
        assert lost_tests == {"test-1"} <= doubted


# A locked cell runs once


def split(notebook: dict, name: str, line: int, between: str = "", both: bool = False, first: bool = True) -> None:
    """Cut a cell in two as JupyterLab does, with what was typed between the halves."""
    cell = find(notebook, name)
    lines = cell["source"].split("\n")
    metadata = json.loads(json.dumps(cell["metadata"])) if both else {}
    other = {"cell_type": "code", "metadata": metadata, "source": "", "outputs": [], "execution_count": None}
    head, tail = (cell, other) if first else (other, cell)
    head["source"], tail["source"] = "\n".join(lines[:line]), "\n".join(lines[line:])
    place = notebook["cells"].index(cell)
    middle = [dict(other, metadata={}, source=between)] if between else []
    notebook["cells"][place : place + 1] = [head, *middle, tail]


@pytest.mark.parametrize(
    ("how", "strip"),
    [
        pytest.param(how, strip, marks=[pytest.mark.slow] if place % 3 else [])
        for place, (how, strip) in enumerate(itertools.product(({}, {"both": True}, {"first": False}), (False, True)))
    ],
)
def test_a_given_cell_with_random_draws_that_was_split_draws_once(grader, examination, how, strip):
    """The numbers of ps5 are all there in Jupyter, and were 11 of 25 points when the second half ran again."""
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    line = max(n for n, line in enumerate(find(notebook, "data")["source"].split("\n")) if "np.random." in line)
    split(notebook, "data", line, **how)
    result = repaired(bare(notebook) if strip else notebook, case)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in case.full.cells]
    told = [sentence for sentence in sentences(result.repairs) if "identified by" not in sentence]
    assert told == ["'data' was split into 2 cells; the released cell was run instead, once"]
    if not (how or strip):
        outcome = grader.grade(result.notebook, examination("ps5_sentence"))
        assert sum(one.earned for results in outcome.checks.values() for one in results) == 25


@pytest.mark.slow
def test_every_cut_of_every_given_cell_gives_it_back_once():
    for case in (CASES["ps1_general_attention"][0], CASES["ps5_sentence"][0]):
        for slot in [slot for slot in case.released.slots if slot.purpose in ("given", "tests") and slot.is_code]:
            for line in range(1, slot.source.count("\n") + 1):
                notebook = plain(case.full)
                split(notebook, slot.cell.id, line, both=line % 2 == 0)
                result = repaired(notebook, case)
                assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in case.full.cells]
                assert doubtful(result.repairs) == ()


def far_below(notebook: dict, name: str, line: int, below: str, **how) -> None:
    """Cut a cell in two, and put the second half far below."""
    cells, tail = notebook["cells"], "\n".join(find(notebook, name)["source"].split("\n")[line:])
    split(notebook, name, line, **how)
    (part,) = [cell for cell in cells if cell["source"] == tail]
    cells.remove(part)
    cells.insert(cells.index(find(notebook, below)) + 1, part)


@pytest.mark.parametrize("strip", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_given_cell_in_two_pieces_that_stand_far_apart_runs_once_in_its_place(grader, examination, strip):
    """ps5 as its original is laid out: the matrices are drawn below the answer that adds the positions."""
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    line = find(notebook, "data")["source"].split("\n").index("W_q = np.random.randn(d_model, d_k) * 0.1")
    far_below(notebook, "data", line, "add_positions")
    result = repaired(bare(notebook) if strip else notebook, case)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in case.full.cells]
    assert doubtful(result.repairs) == ()
    outcome = grader.grade(result.notebook, examination("ps5_sentence"))
    assert sum(one.earned for results in outcome.checks.values() for one in results) == 25


def in_two_pieces() -> dict:
    notebook = plain(CASES["ps5_sentence"][0].full)
    line = find(notebook, "data")["source"].split("\n").index("W_q = np.random.randn(d_model, d_k) * 0.1")
    far_below(notebook, "data", line, "add_positions")
    return notebook


@pytest.mark.parametrize("strip", [False, True])
def test_a_given_cell_in_two_pieces_runs_once_beside_a_copy_of_it_that_stays_the_students(strip):
    case, notebook = CASES["ps5_sentence"][0], in_two_pieces()
    whole = source(repaired(plain(case.full), case), "data")
    below(notebook, "attend_gusta", whole)
    result = repaired(bare(notebook) if strip else notebook, case)
    ids = [cell.id for cell in result.notebook.cells]
    again = [ids[place] for place, cell in enumerate(result.notebook.cells) if "W_q = np" in cell.source]
    assert again[0] == "data"
    assert all(ids.index(name) > ids.index("add_positions") for name in again[1:])
    assert strip or len(again) == 2


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("line", ["d_model = 4", "W_k = "])
def test_a_given_cell_in_two_pieces_of_which_one_was_edited_is_doubted_where_the_second_runs_again(line, strip):
    """The lines are not all there, so nobody knows whether the student meant them as the cell."""
    notebook = in_two_pieces()
    (piece,) = [cell for cell in notebook["cells"] if line in cell["source"]]
    piece["source"] = piece["source"].replace(line, f"# mine\n{line}").replace("  # length", " # The length")
    result = repaired(bare(notebook) if strip else notebook, CASES["ps5_sentence"][0])
    assert {"test_projections", "test_me", "test_attention"} <= set(doubtful(result.repairs))


@pytest.mark.slow
def test_wherever_the_second_half_of_a_locked_cell_stands_it_does_not_run_twice():
    ways = itertools.product((False, True), ({}, {"both": True}, {"first": False}))
    for (strip, how), assignment in itertools.product(ways, ("ps1_general_attention", "ps5_sentence")):
        case = CASES[assignment][0]
        for slot in [slot for slot in case.released.slots if slot.locked and slot.is_code]:
            lines = slot.source.split("\n")
            cuts = [n for n in range(1, len(lines)) if lines[n - 1].strip() and squeezed("".join(lines[n:]))][::9]
            for line, other in itertools.product(cuts, case.released.slots[slot.place + 1 :: 7]):
                notebook = plain(case.full)
                far_below(notebook, slot.cell.id, line, other.cell.id, **how)
                result = repaired(bare(notebook) if strip else notebook, case)
                assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in case.full.cells]


def test_half_of_a_given_cell_at_the_head_of_an_answer_far_below_is_taken_out_of_it():
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    head, tail = find(notebook, "data")["source"].split("\n\nW_q")
    find(notebook, "data")["source"] = head
    mine = find(notebook, "project_words")["source"]
    find(notebook, "project_words")["source"] = f"W_q{tail}\n{mine}"
    result = repaired(notebook, case)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in case.full.cells]


@pytest.mark.parametrize("own", ["{}", "# again\n{}", "import math\n{}\nprint(d_k)"])
def test_a_given_cell_that_was_edited_takes_no_lines_of_a_cell_in_which_a_student_set_them_again(own):
    """What stands in its place is the cell, and is put back; the other is the student's own, and stays."""
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    again = own.format(find(notebook, "data")["source"])
    find(notebook, "data")["source"] = find(notebook, "data")["source"].replace("seed(23)", "seed(24)")
    below(notebook, "attend_sentence", again)
    result = repaired(notebook, case)
    code = [cell.source for cell in result.notebook.cells if "np.random.seed" in cell.source]
    assert code == [find(plain(case.full), "data")["source"], again]


def test_what_was_typed_between_the_halves_of_a_given_cell_stands_below_it_and_what_draws_is_doubted():
    for between, doubted in (("print(1)", True), ("import math", False), ("np.random.seed(1)", True)):
        notebook = plain(ONE.full)
        split(notebook, "data", 3, between)
        result = repaired(notebook, ONE)
        ids = [cell.id for cell in result.notebook.cells]
        assert source(result, "data") == find(plain(ONE.full), "data")["source"]
        assert result.notebook.cells[ids.index("data") + 1].source == between
        assert ("test_self_attention" in doubtful(result.repairs)) == doubted


def test_of_a_given_cell_that_was_split_and_edited_no_part_runs_again():
    notebook = plain(ONE.full)
    split(notebook, "data", 3)
    find(notebook, "data")["source"] = find(notebook, "data")["source"].replace("seed(3)", "seed(4)")
    result = repaired(notebook, ONE)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in ONE.full.cells]


@pytest.mark.parametrize("above", [False, True])
def test_a_given_cell_that_was_merged_with_an_answer_runs_once_and_the_answer_is_whole(grader, tmp_path, above):
    given = "import random\nrandom.seed(1)\ndraws = [random.random() for _ in range(3)]"
    texts = ("answer\nfirst = 1", "given\n" + given, "answer\nsecond = draws[0]")
    one = course(
        grader,
        tmp_path,
        "".join(f"--- {text}\n" for text in texts) + "--- test\nassert first == 1\nassert second == draws[0]\n",
    )
    notebook = one.handed_in(answer_0="first = 1", answer_2="second = draws[0]\nrandom.random()")
    name, other = ("given-1", "answer-2") if above else ("answer-0", "given-1")
    cell, gone = find(notebook, name), find(notebook, other)
    cell["source"] += f"\n\n{gone['source']}"
    notebook["cells"].remove(gone)
    result = one.repaired(notebook)
    code = [cell.source.strip() for cell in result.notebook.cells]
    assert code[:3] == ["first = 1", given, "second = draws[0]\nrandom.random()"]
    assert one.lost(notebook)[0] == set()


def test_lines_of_a_given_cell_that_an_answer_holds_in_its_middle_stay_there():
    given = "rate = 0.25\nsteps = 400\nscale = rate * steps"
    notebook = plain(ONE.full)
    release = copy.deepcopy(ONE.release)
    place = [cell.id for cell in release.cells].index("self_attention")
    flags = {"locked": True, "grade": False, "solution": False, "task": False, "schema_version": 3, "grade_id": "rates"}
    release.cells.insert(place, new_code_cell(given, id="rates", metadata={"nbgrader": flags}))
    answer = find(notebook, "self_attention")
    answer["source"] = f"import math\nrate = 0.25\nsteps = 400\nmath.pi\nscale = rate * steps\n{answer['source']}"
    was = answer["source"]
    result = repair(read(as_utf8(notebook))[0], Released(release))
    assert (source(result, "self_attention"), source(result, "rates")) == (was, given)


def test_a_given_cell_whose_lines_became_the_body_of_a_function_is_put_back_beside_it():
    notebook = plain(ONE.full)
    cell = find(notebook, "data")
    cell |= {"source": "def data():\n" + "\n".join(f"    {line}" for line in cell["source"].split("\n"))}
    cell["metadata"], cell["id"], mine = {}, "mine", cell["source"]
    result = repaired(notebook, ONE)
    assert mine in [cell.source for cell in result.notebook.cells]
    assert source(result, "data") == find(plain(ONE.full), "data")["source"]


# A cell that was cut inside a block

WHOLE = {
    "behind the first line": ["def f(x):", "    return 2 * x"],
    "behind a statement": ["def f(x):\n    y = x", "    return 2 * y"],
    "in a loop": ["def f(x):\n    for _ in range(1):\n        y = x", "        y = 2 * y\n    return y"],
    "before else": ["def f(x):\n    if x < 0:\n        return 2 * x", "    else:\n        return x + x"],
    "behind a return in another block": ["def f(x):\n    if x < 0:\n        return 2 * x", "    return x + x"],
    "twice": ["def f(x):", "    y = x", "    return 2 * y"],
    "in brackets": ["f = dict(zip(range(9), [", "2 * n for n in range(9)])).get"],
    "behind a decorator": ["import functools\n@functools.cache", "def f(x):\n    return 2 * x"],
    "in a class": ["class Twice:", "    def of(self, x):\n        return 2 * x\n\nf = Twice().of"],
}


@pytest.mark.parametrize("identity", ["the first", "both", "the last", "none"])
@pytest.mark.parametrize("cut", WHOLE)
def test_an_answer_that_was_cut_inside_a_block_is_one_cell(grader, tmp_path, cut, identity):
    one = course(grader, tmp_path, "--- answer\ndef f(x):\n    return 2 * x\n--- test\nassert f(3) == 6\n")
    notebook = one.handed_in(answer_0="\n".join(WHOLE[cut]))
    parts = [dict(plain(notebook["cells"][0]), source=part) for part in WHOLE[cut]]
    for place, part in enumerate(parts):
        if {"the first": place > 0, "the last": place < len(parts) - 1}.get(identity):
            part["metadata"], part["id"] = {}, f"part{place}"
    notebook["cells"][:1] = parts
    notebook = bare(notebook) if identity == "none" else notebook
    result = one.repaired(notebook)
    assert source(result, "answer-0") == "\n".join(WHOLE[cut])
    assert (one.lost(notebook), len(result.notebook.cells)) == ((set(), set()), 2)
    assert any("the parts were joined" in sentence for sentence in sentences(result.repairs))


APART = {
    "below the answer's return": ("def f(x):\n    return 2 * x", "    x = 3\n    return x"),
    "a scratch cell that IPython runs": ("def f(x):\n    return 2 * x", "    n = 4\n    print(n)"),
    "words": ("def f(x):\n    return 2 * x", "What does this do?"),
    "whole cells": ("def f(x):\n    return 2 * x", "f(1)"),
}


@pytest.mark.parametrize("own", APART)
def test_a_cell_below_an_answer_that_is_whole_is_not_joined_with_it(grader, tmp_path, own):
    one = course(grader, tmp_path, "--- answer\ndef f(x):\n    return 2 * x\n--- test\nassert f(3) == 6\n")
    notebook = one.handed_in(answer_0=APART[own][0])
    below(notebook, "answer-0", APART[own][1])
    result = one.repaired(notebook)
    assert [cell.source for cell in result.notebook.cells][:2] == list(APART[own])
    assert one.lost(notebook)[0] == set()


def test_the_rest_of_an_answer_that_lost_its_first_line_is_not_joined_with_a_cell_above_it(grader, tmp_path):
    text = "--- answer\ndef f(x):\n    return 2 * x\n--- test\nassert f(3) == 6\n"
    one = course(grader, tmp_path, text + text.replace("f(", "g("))
    notebook = one.handed_in(answer_0="def f(x):\n    y = 2 * x\n    print(y)", answer_2="    y = x\n    return 2 * y")
    below(notebook, "test-1", "def mine(x):\n    print(x)")
    result = one.repaired(notebook)
    assert source(result, "answer-2") == "    y = x\n    return 2 * y"
    assert {"test-3"} <= one.lost(notebook)[1]


# A student's own cells


OWN = "def twice(x):\n    return 2 * x"


@pytest.fixture(scope="module")
def doubling(grader, tmp_path_factory) -> Course:
    text = f"--- given\nimport math\n--- answer\n{OWN}\n--- test\nassert twice(2) == 4\n--- open\nprint(1)\n"
    stub = "def twice(x):\n    raise NotImplementedError()"
    return course(grader, tmp_path_factory.mktemp("doubling"), text, answer_1=stub)


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("neighbour", ["given-0", "answer-1"])
def test_an_answer_in_a_cell_of_its_own_above_or_below_its_stub_needs_no_move(doubling, neighbour, strip):
    """A stub that redefines the function would undo what stands above it."""
    notebook = doubling.handed_in()
    below(notebook, neighbour, OWN)
    notebook = bare(notebook) if strip else notebook
    result = doubling.repaired(notebook)
    assert [cell.source for cell in result.notebook.cells] == [
        ELSEWHERE if "NotImplemented" in cell["source"] and neighbour == "given-0" else cell["source"]
        for cell in notebook["cells"]
    ]
    assert doubling.lost(notebook) == (set(), set())
    assert result.answered == 1


@pytest.mark.parametrize("deleted", ["answer-1", "test-2"])
def test_an_own_cell_stands_before_a_test_that_was_put_back(doubling, deleted):
    notebook = doubling.handed_in()
    below(notebook, "answer-1", OWN, id="own")
    notebook["cells"].remove(find(notebook, deleted))
    assert doubling.lost(notebook) == (set(), set())


def test_an_answer_below_its_test_stays_there_and_waits_for_a_human(doubling):
    notebook = doubling.handed_in()
    below(notebook, "test-2", OWN)
    assert [cell.source for cell in doubling.repaired(notebook).notebook.cells] == [
        cell["source"] for cell in notebook["cells"]
    ]
    assert doubling.lost(notebook) == ({"test-2"}, {"test-2"})


def test_a_helper_below_the_answer_stays_there_and_the_answer_is_doubted():
    case = CASES["ps1_general_attention"][0]
    helper = "def dot(a, b):\n    return sum(x * y for x, y in zip(a, b))"
    for text, doubted in (
        ("scores = [dot(query_1, key) for key in (key_1, key_2, key_3, key_4)]", True),
        ("scores = query_1\n\ndef scored(query):\n    return dot(query, key_1)", False),
    ):
        notebook = plain(case.full)
        find(notebook, "scores_word_1")["source"] = text
        below(notebook, "scores_word_1", helper)
        result = repaired(notebook, case)
        ids = [cell.id for cell in result.notebook.cells]
        assert result.notebook.cells[ids.index("scores_word_1") + 1].source == helper
        assert ("test_scores_word_1" in doubtful(result.repairs)) == doubted


def test_own_cells_stay_between_their_neighbours():
    notebook = plain(ONE.full)
    for number, name in enumerate([cell["id"] for cell in notebook["cells"]]):
        below(notebook, name, f"mine_{number} = {number}" if number % 3 else "", id=f"mine-{number}")
    result = repaired(notebook, ONE)
    assert [cell.source for cell in result.notebook.cells] == [cell["source"] for cell in notebook["cells"]]
    assert sentences(result.repairs) == []


def test_a_second_copy_of_an_answer_without_identity_stays_and_one_of_its_stub_does_not_undo_it():
    notebook = plain(ONE.full)
    below(notebook, "self_attention", find(notebook, "self_attention")["source"])
    below(notebook, "self_attention", find(plain(ONE.release), "self_attention")["source"])
    result = repaired(notebook, ONE)
    assert len(result.notebook.cells) == len(ONE.full.cells) + 1
    assert "a second, unchanged copy of 'self_attention' was ignored" in sentences(result.repairs)


def test_a_copy_with_the_identity_of_an_answer_word_for_word_is_left_out():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    notebook["cells"].insert(notebook["cells"].index(answer), dict(answer, id="again"))
    result = repaired(notebook, ONE)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in ONE.full.cells]
    assert "a second, identical copy of the answer 'self_attention' was ignored" in sentences(result.repairs)


# What has lost its identity


def test_an_answer_without_identity_that_stands_elsewhere_is_taken_whole_and_doubted():
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    answer = find(notebook, "softmax")
    notebook["cells"].remove(answer)
    notebook["cells"].append(answer | {"metadata": {}, "id": "elsewhere"})
    result = repaired(notebook, case)
    assert source(result, "softmax") == answer["source"]
    assert "test_softmax" in doubtful(result.repairs)


def test_of_several_cells_that_may_be_an_answer_none_is_guessed():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    place = notebook["cells"].index(answer)
    notebook["cells"][place : place + 1] = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for text in ("mine = 1", "other = 2")
    ]
    result = repaired(notebook, ONE)
    assert "mine = 1" in [cell.source for cell in result.notebook.cells]
    assert "test_self_attention" in doubtful(result.repairs)


# Written answers


@pytest.mark.parametrize("answer", ["42", "Because a sum has no order.", "![](plot.png)", "$\\sum_i x_i$"])
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("purpose", ["task", "manual"])
def test_a_written_answer_in_a_new_cell_below_its_stub_waits_for_the_grader(purpose, strip, answer):
    flags = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3, "points": 1}
    own = new_markdown_cell("YOUR ANSWER HERE", id="own", metadata={"nbgrader": flags | {"grade_id": "own"}})
    release = copy.deepcopy(ONE.release)
    place = [cell.id for cell in release.cells].index("self_attention")
    release.cells[place:place] = [new_markdown_cell("## Why is that so?", id="asked"), own]
    notebook = plain(release)
    name = "why_equivariant_answer" if purpose == "task" else "own"
    below(notebook, name, answer, "markdown")
    result = repair(read(as_utf8(bare(notebook) if strip else notebook))[0], Released(release))
    ids = [cell.id for cell in result.notebook.cells]
    assert result.notebook.cells[ids.index(name) + 1].source == answer
    assert ("why_equivariant" if purpose == "task" else "own") in doubtful(result.repairs)


@pytest.mark.parametrize("locked", [False, True])
def test_a_written_answer_in_the_text_above_its_stub_waits_for_the_grader(locked):
    flags = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3, "points": 1}
    own = new_markdown_cell("YOUR ANSWER HERE", id="own", metadata={"nbgrader": flags | {"grade_id": "own"}})
    asked = new_markdown_cell("## Why is that so?\n\nOne sentence.", id="asked")
    if locked:
        asked.metadata.nbgrader = flags | {"grade_id": "asked", "grade": False, "solution": False, "locked": True}
    release = copy.deepcopy(ONE.release)
    release.cells[5:5] = [asked, own]
    notebook = plain(release)
    for text, doubted in (("Because.", True), ("", False)):
        find(notebook, "asked")["source"] = f"{asked.source}\n\n{text}"
        result = repair(read(as_utf8(notebook))[0], Released(copy.deepcopy(release)))
        assert ("own" in doubtful(result.repairs)) == doubted
        assert text in "\n".join(cell.source for cell in result.notebook.cells[5:9])


def test_an_answer_in_an_unlocked_cell_of_the_release_runs_there(doubling):
    notebook = doubling.handed_in()
    find(notebook, "open-3")["source"] = OWN
    assert doubling.lost(notebook) == ({"test-2"}, {"test-2"})


# Cells that nbgrader does not know


def test_empty_test_cells_of_the_release_are_nothing_that_a_program_lost():
    release = copy.deepcopy(ONE.release)
    for cell in release.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = ""
    notebook = plain(release)
    find(notebook, "self_attention")["source"] = find(plain(ONE.full), "self_attention")["source"]
    result = repair(read(as_utf8(notebook))[0], Released(release))
    assert sentences(result.repairs) == []


@pytest.mark.parametrize("ids", ["none", "new"])
def test_an_empty_cell_that_nobody_knows_is_there_once_in_a_notebook_without_stable_ids(ids):
    release = copy.deepcopy(ONE.release)
    release.cells.insert(5, new_code_cell("", id="x"))
    release.cells.append(new_code_cell("", id="y"))
    release.nbformat_minor = 4
    for cell in release.cells:
        del cell["id"]
    full = {cell.id: cell.source for cell in ONE.full.cells}
    notebook = plain(release)
    for number, cell in enumerate(notebook["cells"]):
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        cell["source"] = full[name] if cell["metadata"].get("nbgrader", {}).get("solution") else cell["source"]
        if ids == "new":
            cell["id"] = f"fresh-{number}"
    result = repair(read(as_utf8(notebook))[0], Released(nbformat.from_dict(plain(release))))
    assert [cell.source for cell in result.notebook.cells] == [cell["source"] for cell in notebook["cells"]]
    assert sentences(result.repairs) == []
