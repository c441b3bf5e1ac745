"""Whatever was done to a notebook, what a student wrote stays and runs where it stood, in the assignment's order."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import random
import textwrap
from dataclasses import dataclass

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import PROJECT, SHORT
from tests.mangling import (
    KEEPING,
    LOSING,
    answer_below_stub,
    as_utf8,
    half,
    plain,
    spread_answers,
    strip_ids,
    strip_nbgrader,
)
from tests.oral import sampled
from viva.engine.blueprint import read_blueprint
from viva.notebook import names
from viva.notebook.stubs import undone_functions
from viva.record import doubtful
from viva.submission.cells.handout import trees
from viva.submission.cells.places import Released, Slot
from viva.submission.cells.repair import Repaired, repair
from viva.submission.cells.texts import bound_names, squeezed
from viva.submission.files.salvage import read
from viva.wording import sentences
from viva_audit.answers import fill_in, read_answers

ASSIGNMENTS = sorted(path.name for path in (PROJECT / "source").iterdir() if path.is_dir())


@dataclass
class Case:
    released: Released
    release: NotebookNode
    full: NotebookNode
    name: str


def release_of(assignment: str) -> NotebookNode:
    (path,) = (PROJECT / "release" / assignment).glob("*.ipynb")
    return nbformat.read(path, as_version=4)


def cases(assignment: str) -> list[Case]:
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    release = release_of(assignment)
    blueprint = read_blueprint(source)
    answers = [answer for answer in read_answers(PROJECT / "answers" / assignment) if answer.right]
    return [Case(Released(release), release, fill_in(answer, release, blueprint), answer.name) for answer in answers]


SPREADING = ("split_in_paragraphs", "jupytext_without_markers", "join_texts", "quarto")
"""What leaves an answer in several cells, of which each runs alone, or a text of the author's below another."""
LEAVING = ("split_answer", "merge_answers", "gather_answers", "merge_text")
"""What leaves an answer without a cell of its own that says what it is, or in halves that do not run."""


class Cases(dict):
    """Those of an assignment are made when the first test asks for them."""

    def __missing__(self, assignment: str) -> list[Case]:
        self[assignment] = cases(assignment)
        return self[assignment]


CASES = Cases()
TWO = [pytest.param(name, marks=[pytest.mark.slow] * (name not in (SHORT, "ps5_sentence"))) for name in ASSIGNMENTS]
"""Two assignments for quick tests; proofs take all. One has functions, and one has mostly values."""
ONE = CASES[SHORT][0]


def repaired(notebook: dict, case: Case) -> Repaired:
    return repair(read(as_utf8(notebook))[0], case.released)


def count_of_answers(assignment: str) -> int:
    (release,) = (PROJECT / "release" / assignment).glob("*.ipynb")
    return len(answers_of(json.loads(release.read_text(encoding="utf-8"))))


def answers_of(notebook: dict) -> list[dict]:
    """The cells of a notebook that students answer in."""
    return [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]


def words(source: str) -> list[str]:
    return source.split()


def assert_same(result: Repaired, case: Case) -> None:
    """Every cell of the assignment is as it was handed in, in its order, with its metadata."""
    known = {cell.id for cell in case.full.cells}
    cells = [cell for cell in result.notebook.cells if cell.id in known]
    assert [cell.id for cell in cells] == [cell.id for cell in case.full.cells]
    for cell, was in zip(cells, case.full.cells, strict=True):
        assert (words(cell.source), cell.cell_type) == (words(was.source), was.cell_type), sentences(result.repairs)
        assert cell.metadata == was.metadata


def assert_held(result: Repaired, case: Case) -> None:
    """Every line of an answer runs between the cells around it, in its order; the cells of the assignment are whole.

    What was put back as released may stand among the lines: nobody knows where it was.
    """
    known = [cell.id for cell in case.full.cells]
    ids = [cell.id for cell in result.notebook.cells]
    assert [name for name in ids if name in known] == known
    for sentence in sentences(result.repairs):
        if sentence.endswith("restored as released"):
            known = [name for name in known if f"'{name}'" not in sentence]
    for was in case.full.cells:
        if was.cell_type != "code" or not was.metadata.get("nbgrader", {}).get("solution"):
            continue
        first = last = ids.index(was.id)
        while first and ids[first - 1] not in known:
            first -= 1
        while last + 1 < len(ids) and ids[last + 1] not in known:
            last += 1
        code = [cell.source for cell in result.notebook.cells[first : last + 1] if cell.cell_type == "code"]
        lines = iter([squeezed(line) for line in "\n".join(code).splitlines()])
        assert all(squeezed(line) in lines for line in was.source.splitlines() if line.strip()), (
            was.id,
            sentences(result.repairs),
        )


def lacking(result: Repaired, case: Case) -> list[Slot]:
    """The answers that do not give, before their first test, what they give in the whole notebook."""
    return [slot for slot in case.released.slots if _given(case.full.cells, case, slot) - _given_to(result, case, slot)]


def _given_to(result: Repaired, case: Case, slot: Slot) -> set[str]:
    return _given(result.notebook.cells, case, slot)


def _given(cells, case: Case, slot: Slot) -> set[str]:
    """Of the names that an answer has to give, those that the student's cells above its first test give."""
    tests = [other.cell.id for other in case.released.slots[slot.place :] if other.purpose == "tests"]
    locked = {other.cell.id for other in case.released.slots if other.locked}
    found: set[str] = set()
    for cell in cells if slot.answers else ():
        if cell.id in tests[:1]:
            break
        if cell.cell_type == "code" and cell.id not in locked:
            found = (found | bound_names(cell.source)) - undone_functions(cell.source)
    return found & slot.own


def assert_kept_or_doubted(result: Repaired, case: Case) -> None:
    """Each answer gives its names before its tests run, or a human is asked to look at them."""
    found = set(doubtful(result.repairs))
    for slot in lacking(result, case):
        assert set(case.released.tests_of(slot)) <= found, (slot.name, sentences(result.repairs))


def nothing_left_to_do(result: Repaired, case: Case) -> None:
    """nbgrader's own steps find the cells as they want them."""
    nbformat.validate(result.notebook)
    ids = [cell.id for cell in result.notebook.cells]
    assert len(set(ids)) == len(ids)
    released = [cell.metadata for cell in case.release.cells]
    assert [cell.metadata for cell in result.notebook.cells if cell.metadata] == [data for data in released if data]
    assert result.notebook.metadata == case.release.metadata


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_notebook_that_needs_no_repair_has_none_and_stays_as_it_is(assignment):
    for case in CASES[assignment]:
        result = repaired(plain(case.full), case)
        assert sentences(result.repairs) == []
        assert [dict(cell) for cell in result.notebook.cells] == [dict(cell) for cell in case.full.cells]


@pytest.mark.parametrize(
    ("way", "also_without_ids", "assignment"),
    sampled(half(KEEPING, [False, True], ASSIGNMENTS), 17),
)
def test_each_way_of_mangling_is_undone_or_doubted(way, also_without_ids, assignment):
    for case in CASES[assignment]:
        dice, notebook = random.Random(f"{way} {case.name}"), plain(case.full)
        KEEPING[way](notebook, dice)
        if also_without_ids:
            strip_nbgrader(notebook, dice)
            strip_ids(notebook, dice)
        result = repaired(notebook, case)
        nothing_left_to_do(result, case)
        if way in LEAVING or (way in ("retype", "shuffle") and also_without_ids):  # nothing tells a text
            assert_kept_or_doubted(result, case)
        else:
            (assert_held if way in SPREADING else assert_same)(result, case)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_cells_of_code_that_were_all_made_raw_are_code_again_where_anything_identifies_them(assignment):
    for case in CASES[assignment]:
        notebook = plain(case.full)
        for cell in notebook["cells"]:
            cell["cell_type"] = "raw" if cell["cell_type"] == "code" else cell["cell_type"]
        assert_same(repaired(notebook, case), case)


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("assignment", TWO)
def test_an_answer_below_its_stub_stays_there_and_is_doubted_only_below_the_test(assignment, strip):
    for case, further in itertools.product(CASES[assignment], (1, 2)):
        notebook = plain(case.full)
        answer_below_stub(notebook, random.Random(case.name), case.release, further)
        result = repaired(bare(plain(notebook)) if strip else notebook, case)
        assert [words(cell.source) for cell in result.notebook.cells] == [
            words(cell["source"]) for cell in notebook["cells"]
        ]
        assert_kept_or_doubted(result, case)
        if strip and any("globals()[" in cell.source for cell in result.notebook.cells):
            continue  # no text of such an answer tells which names it gives, so a doubt is right
        assert bool(lacking(result, case)) == bool(doubtful(result.repairs)), sentences(result.repairs)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_ways_after_each_other_leave_a_whole_notebook(data):
    case = data.draw(st.sampled_from([case for assignment in ASSIGNMENTS for case in CASES[assignment]]))
    ways = data.draw(st.lists(st.sampled_from([*KEEPING.values(), *LOSING.values()]), min_size=1, max_size=6))
    dice, notebook = random.Random(data.draw(st.integers(0, 1000))), plain(case.full)
    for way in ways:
        try:
            way(notebook, dice)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            break  # there is nothing left that this could be done to
    result = repaired(notebook, case)
    nothing_left_to_do(result, case)
    assert all(isinstance(sentence, str) and sentence for sentence in sentences(result.repairs))


KEPT = [one for one in vars(names).values() if hasattr(one, "cache_clear")] + [trees]
"""What is kept of texts from one submission to the next."""


@pytest.mark.slow
def test_a_repair_does_not_depend_on_the_submissions_before_it():
    mangled = []
    for seed in range(60):
        dice = random.Random(seed)
        case = dice.choice(CASES[SHORT])
        notebook = plain(case.full)
        for way in dice.sample([*KEEPING.values(), *LOSING.values()], 3):
            with contextlib.suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):  # after odd cells
                way(notebook, dice)
        mangled.append((as_utf8(notebook), case.released))
    alone = []
    for data, released in mangled:
        for kept in KEPT:
            kept.cache_clear()
        alone.append(repair(read(data)[0], released))
    assert [repair(read(data)[0], released) for data, released in reversed(mangled)] == alone[::-1]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_after_two_ways_after_each_other_nothing_is_lost_without_a_doubt(data):
    case = data.draw(st.sampled_from([case for assignment in ASSIGNMENTS for case in CASES[assignment]]))
    ways = data.draw(st.lists(st.sampled_from(list(KEEPING)), min_size=2, max_size=2))
    dice, notebook = random.Random(data.draw(st.integers(0, 1000))), plain(case.full)
    for way in ways:
        KEEPING[way](notebook, dice)
    assert_kept_or_doubted(repaired(notebook, case), case)


def bare(notebook: dict) -> dict:
    strip_nbgrader(notebook, random.Random(1))
    strip_ids(notebook, random.Random(1))
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook


def lines_of(cells) -> set[str]:
    return {squeezed(line) for cell in cells for line in cell["source"].splitlines()}


@pytest.mark.parametrize("assignment", [name for name in TWO if count_of_answers(name.values[0]) > 2])
def test_two_answers_merged_and_a_third_split_without_any_metadata_run_or_are_doubted(assignment):
    for case in CASES[assignment]:
        notebook, dice = plain(case.full), random.Random(case.name)
        answers = answers_of(notebook)
        KEEPING["gather_answers"](notebook | {"cells": answers[:2]}, dice)
        notebook["cells"].remove(answers[1])
        third = [cell for cell in answers[2:] if cell["cell_type"] == "code"]
        lines = dice.choice([cell for cell in third if "\n" in cell["source"]])
        place = dice.randrange(1, lines["source"].count("\n") + 1)
        below(notebook, lines["id"], "\n".join(lines["source"].split("\n")[place:]))
        lines["source"] = "\n".join(lines["source"].split("\n")[:place])
        assert_kept_or_doubted(repaired(bare(notebook), case), case)


@pytest.mark.parametrize("assignment", TWO)
def test_an_answer_in_a_block_of_a_joined_text_is_doubted(assignment):
    for case in CASES[assignment]:
        notebook, dice = plain(case.full), random.Random(case.name)
        KEEPING["fence"](notebook, dice)
        KEEPING["quarto"](notebook, dice)
        assert_kept_or_doubted(repaired(bare(notebook), case), case)


@pytest.mark.parametrize("assignment", TWO)
def test_answers_in_a_cell_for_each_statement_without_any_metadata_run_whole_and_in_order(assignment):
    for case in CASES[assignment]:
        notebook = plain(case.full)
        spread_answers(notebook)
        assert_held(repaired(bare(notebook), case), case)


@pytest.mark.parametrize("assignment", TWO)
def test_an_answer_cut_at_any_line_without_any_metadata_gives_its_names(assignment):
    for case in CASES[assignment]:
        notebook = plain(case.full)
        KEEPING["split_answer"](notebook, random.Random(case.name))
        assert lacking(repaired(bare(notebook), case), case) == []


NAMELESS = "made = iter([X] * 9)\n(\n    first, second\n) = made, made\nglobals()['self_attention'] = lambda *_: (X, X)"


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize(
    ("place", "keep_stub"),
    [*itertools.product(["text above", "text of the student's"], [False, True]), ("read-only cell", False)],
)
def test_an_answer_written_into_another_cell_is_doubted_though_no_name_tells_which_it_is(place, keep_stub, strip):
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    above = notebook["cells"][notebook["cells"].index(answer) - 1]
    if place == "text of the student's":
        above = {"cell_type": "markdown", "metadata": {}, "source": "My solution:"}
        notebook["cells"].insert(notebook["cells"].index(answer), above)
    elif place == "read-only cell":
        above = find(notebook, "softmax_cols")
        above["source"] = above["source"].replace("data_in", "data")
    above["source"] += f"\n\n{NAMELESS}"
    answer["source"] = next(cell.source for cell in ONE.release.cells if cell.id == "self_attention")
    if not keep_stub:
        notebook["cells"].remove(answer)
    result = repaired(bare(notebook) if strip else notebook, ONE)
    assert "test_self_attention" in doubtful(result.repairs), sentences(result.repairs)


HARD = ("split_answer", "split_in_paragraphs", "split_locked", "merge", "merge_below", "merge_answers", "merge_text")
HARD += ("gather_answers", "fence", "shuffle", "retype", "insert", "copy_answer", "jupytext_without_markers", "quarto")


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 9)) for seed in range(40)])
def test_no_line_of_a_students_ever_disappears_without_a_sentence(seed):
    dice = random.Random(seed)
    case = dice.choice([case for assignment in ASSIGNMENTS for case in CASES[assignment]])
    notebook = plain(case.full)
    for way in sorted(dice.choices(HARD, k=3), key=HARD.index):
        KEEPING[way](notebook, dice)
    result = repaired(bare(notebook), case)
    nothing_left_to_do(result, case)
    gone = lines_of(notebook["cells"]) - lines_of(result.notebook.cells) - lines_of(case.release.cells)
    assert not gone - {"```", "```python"} or any("edited" in sentence for sentence in sentences(result.repairs)), gone


def test_an_answer_in_a_given_cell_that_was_edited_is_doubted():
    notebook = plain(ONE.full)
    answer, given = find(notebook, "self_attention"), find(notebook, "softmax_cols")
    given["source"] = given["source"].replace("=", "= ", 1).replace("data_in", "data") + "\n\n" + answer["source"]
    notebook["cells"].remove(answer)
    for book in (notebook, bare(plain(notebook))):
        assert_kept_or_doubted(repaired(book, ONE), ONE)


def find(notebook: dict, name: str) -> dict:
    return next(cell for cell in notebook["cells"] if cell.get("id") == name)


def below(notebook: dict, name: str, source: str, cell_type: str = "code", **more) -> None:
    place = notebook["cells"].index(find(notebook, name))
    notebook["cells"].insert(place + 1, {"cell_type": cell_type, "metadata": {}, "source": source, **more})


def source(result: Repaired, name: str) -> str:
    return next(cell.source for cell in result.notebook.cells if cell.id == name)


def said(change) -> list[str]:
    notebook = plain(ONE.full)
    change(notebook)
    return sentences(repaired(notebook, ONE).repairs)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda book: find(book, "test_permuted").update(source="pass"),
            "the test cell 'test_permuted' was edited; the released text was restored",
        ),
        (
            lambda book: book["cells"].remove(find(book, "test_permuted")),
            "'test_permuted' was missing in the submission and was restored as released",
        ),
        (
            lambda book: book["cells"].insert(0, book["cells"].pop()),
            "the cells were in another order; the assignment's order was restored",
        ),
        (
            lambda book: find(book, "self_attention").update(cell_type="markdown"),
            "'self_attention' was submitted as a markdown cell and was changed back to a code cell",
        ),
        (
            lambda book: find(book, "data").update(source=find(book, "data")["source"] + "\nN = 300"),
            "the read-only cell 'data' has added lines; the released text was restored, and the added lines follow "
            "below it",
        ),
        (
            lambda book: book["metadata"].update(kernelspec={"language": "R", "name": "ir"}),
            "the notebook was made for another kernel (r) and is run with the assignment's",
        ),
    ],
)
def test_each_repair_is_one_sentence(change, sentence):
    assert said(change) == [sentence]


@pytest.mark.parametrize(
    "change",
    [
        lambda book: find(book, "test_permuted").update(source=find(book, "test_permuted")["source"] + " \n\n"),
        lambda book: find(book, "data").update(source=find(book, "data")["source"].replace("  #", "#")),
        lambda book: below(book, "data", "%pip install numpy"),
        lambda book: below(book, "data", "mine", "markdown"),
        lambda book: find(book, "introduction").update(source="# My own title"),
    ],
)
def test_white_space_and_cells_of_ones_own_are_no_repair(change):
    assert said(change) == []


def test_of_two_answers_the_later_one_counts_and_the_other_stays():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    below(notebook, "self_attention", answer["source"].replace("def ", "# later\ndef ", 1), id="copy")
    notebook["cells"][notebook["cells"].index(answer) + 1]["metadata"] = answer["metadata"]
    result = repaired(notebook, ONE)
    ids = [cell.id for cell in result.notebook.cells]
    assert source(result, "self_attention").startswith("# later")
    place = ids.index("self_attention")
    assert result.notebook.cells[place - 1].source == answer["source"]
    told = "'self_attention' is there twice, with different code. Both ran"
    assert told in sentences(result.repairs)[0]
    assert {"test_self_attention", "test_self_attention_sizes"} <= set(doubtful(result.repairs))


def test_an_answer_in_the_place_of_one_that_is_gone_is_not_both():
    notebook = plain(ONE.full)
    answer, gone = find(notebook, "self_attention"), find(notebook, "scaled_dot_product_self_attention")
    notebook["cells"].remove(answer)
    notebook["cells"][notebook["cells"].index(gone)] = answer
    result = repaired(notebook, ONE)
    assert source(result, "self_attention") == answer["source"]
    assert "NotImplementedError" in source(result, "scaled_dot_product_self_attention")


def test_a_copy_of_the_stub_below_the_answer_does_not_undo_it():
    notebook = plain(ONE.full)
    stub = next(cell.source for cell in ONE.release.cells if cell.id == "self_attention")
    below(notebook, "self_attention", stub)
    notebook["cells"][notebook["cells"].index(find(notebook, "self_attention")) + 1]["metadata"] = find(
        notebook, "self_attention"
    )["metadata"]
    result = repaired(notebook, ONE)
    assert_same(result, ONE)
    assert len(result.notebook.cells) == len(ONE.full.cells)


@pytest.mark.parametrize("where", ["name", "self_attention", "a cell above another's tests", "nowhere", "a stub above"])
def test_a_stub_does_not_undo_an_answer_elsewhere(where):
    notebook = plain(ONE.full)
    answer = find(notebook, "scaled_dot_product_self_attention")
    text, stub = answer["source"], find(plain(ONE.release), answer["id"])["source"]
    if where in ("name", "self_attention", "nowhere"):
        notebook["cells"].remove(answer)
        if where != "nowhere":
            find(notebook, where)["source"] += f"\n\n{text}"
    else:
        answer["source"] = stub
        below(notebook, "self_attention", stub if where == "a stub above" else text)
    result = repaired(notebook, ONE)
    assert ("NotImplementedError" in source(result, answer["id"])) == (where in ("nowhere", "a stub above"))


def test_a_whole_import_added_to_a_given_cell_stays_the_students_own():
    notebook = plain(ONE.full)
    given = find(notebook, "setup")
    given["source"] = given["source"].replace("import numpy as np\n", "import numpy as np\nimport math\n", 1)
    result = repaired(notebook, ONE)
    place = [cell.id for cell in result.notebook.cells].index("setup")
    assert result.notebook.cells[place + 1].source == "import math"
    what = "the released text was restored, and the added lines follow below it"
    assert sentences(result.repairs) == [f"the read-only cell 'setup' has added lines; {what}"]


@pytest.mark.parametrize("identified", [True, False])
def test_a_line_inside_a_given_cell_that_was_moved_stays_and_so_does_a_copy_that_nothing_identifies(identified):
    notebook = plain(ONE.full)
    cell = find(notebook, "data")
    notebook["cells"].remove(cell)
    notebook["cells"].append(cell)
    lines = cell["source"].splitlines()
    cell["source"] = "\n".join([*lines[:8], "middle = 2", *lines[8:]])
    if not identified:
        cell.update(id="fresh", metadata={})
    assert ("middle = 2" if identified else cell["source"]) in [
        c.source for c in repaired(notebook, ONE).notebook.cells
    ]


def test_a_cell_of_an_earlier_release_is_not_called_edited():
    from nbgrader.utils import compute_checksum

    notebook = plain(ONE.full)
    then = nbformat.from_dict(find(notebook, "data"))
    then.source = then.source.replace("seed(3)", "seed(4)")
    find(notebook, "data").update(source=then.source)
    find(notebook, "data")["metadata"]["nbgrader"]["checksum"] = compute_checksum(then)
    sentence = "the read-only cell 'data' is from an earlier release; it was replaced by the current text"
    assert sentences(repaired(notebook, ONE).repairs) == [sentence]


def test_forged_identities_earn_nothing():
    notebook = plain(ONE.full)
    test = find(notebook, "test_permuted")
    test["source"] = "1"
    below(notebook, "test_permuted", "pass")
    notebook["cells"][notebook["cells"].index(test) + 1]["metadata"] = json.loads(json.dumps(test["metadata"]))
    result = repaired(notebook, ONE)
    nothing_left_to_do(result, ONE)
    assert_same(result, ONE)


def test_a_written_answer_keeps_its_picture():
    notebook = plain(ONE.full)
    notebook["cells"][-1] |= {"source": "![](attachment:a.png)", "attachments": {"a.png": {"image/png": "AA=="}}}
    assert repaired(notebook, ONE).notebook.cells[-1].attachments == {"a.png": {"image/png": "AA=="}}


@pytest.mark.slow
def test_two_thousand_cells_take_seconds():
    notebook = plain(ONE.full)
    strip_nbgrader(notebook, random.Random(1))
    strip_ids(notebook, random.Random(1))
    extra = [{"cell_type": "code", "metadata": {}, "source": f"x_{n} = {n}\n" * 9} for n in range(1900)]
    notebook["cells"][5:5] = extra
    assert_same(repaired(notebook, ONE), ONE)


def test_nbgraders_own_steps_have_nothing_to_do_but_put_hidden_lines_back(course):
    from nbgrader.preprocessors import CheckCellMetadata, DeduplicateIds, OverwriteCells

    from tests.conftest import load
    from viva.course.gradebook.recording import Draft, Expected, in_place_of_gradebook

    with load(course)[0].gradebook() as gradebook:
        expected = Expected.of(gradebook, SHORT)
    notebook = plain(ONE.full)
    for way in ("strip_nbgrader", "copy_test", "shuffle", "retype", "delete_locked", "forge"):
        KEEPING[way](notebook, random.Random(3))
    node = repaired(notebook, ONE).notebook
    (name,) = expected.notebooks
    resources = {"nbgrader": {"notebook": name, "assignment": SHORT, "student": "anna", "db_url": ""}}
    messages = []
    log = logging.Logger("steps", logging.WARNING)
    log.addHandler(type("Kept", (logging.Handler,), {"emit": lambda _, record: messages.append(record.getMessage())})())
    with in_place_of_gradebook(Draft(expected), [OverwriteCells]):
        for step in (DeduplicateIds(), OverwriteCells(add_missing_cells=True), CheckCellMetadata()):
            step.log = log
            node, resources = step(node, resources)
    cells = expected.notebooks[name].source_cells
    hidden = [cell.name for cell in cells if "### BEGIN HIDDEN TESTS" in cell.source or "BEGIN MARK" in cell.source]
    assert [message.split(" has changed")[0] for message in messages] == [
        f"Attribute 'checksum' for cell {cell}" for cell in hidden
    ]


def test_released_cells_without_an_id_get_one_and_marks_without_a_grade_id_go():
    own = nbformat.v4.new_code_cell("x = 1", metadata={"nbgrader": {"grade": False, "solution": False}})
    del own["id"]
    release = NotebookNode(nbformat=4, nbformat_minor=4, metadata=ONE.release.metadata, cells=[own, *ONE.release.cells])
    handed_in = plain(ONE.full)
    handed_in["cells"].insert(0, plain(own))
    result = repair(read(as_utf8(handed_in))[0], Released(release))
    assert sentences(result.repairs) == []
    assert result.notebook.cells[0] == own | {"id": "cell-1", "metadata": {}}


def test_an_answer_that_is_indented_as_a_whole_is_no_half_of_another():
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    cell = find(notebook, "project_words")
    cell["source"] = textwrap.indent(cell["source"], "    ")
    result = repaired(notebook, case)
    assert source(result, "project_words") == cell["source"]
    assert source(result, "attend_gusta") == source(repaired(plain(case.full), case), "attend_gusta")


def test_answers_alone_that_say_what_they_are_are_enough_of_an_assignment():
    notebook = plain(ONE.full)
    assert repaired(plain(ONE.release), ONE).fit > 0.5
    names = [slot.name for slot in Released(ONE.release).slots if slot.answers]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] in names]
    assert repaired(notebook, ONE).fit == 1
    nameless = repaired(bare(notebook), ONE)
    assert nameless.fit < 0.25 and doubtful(nameless.repairs) == ("why_equivariant",), "any text may stand there"


IN_R = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}


def in_r(**sources: str) -> NotebookNode:
    """A released notebook in R: an answer called f, another called m, and a test of each."""
    texts = {"f": "f <- function(x) {\n# YOUR CODE HERE\nfail()\n}", "test_f": "stopifnot(f(2) == 4)"}
    texts |= {"m": "# YOUR CODE HERE\nfail()", "test_m": "stopifnot(abs(m - 7 / 3) < 1e-9)"} | sources
    cells = []
    for name, source in texts.items():
        test = name.startswith("test_")
        flags = {"grade_id": name, "grade": test, "solution": not test, "locked": test, "schema_version": 3}
        flags |= {"task": False} | ({"points": 1} if test else {})
        cells.append(new_code_cell(source, id=name, metadata={"nbgrader": flags}))
    return new_notebook(cells=cells, metadata=IN_R)


def repaired_r(notebook: NotebookNode) -> Repaired:
    return repair(read(nbformat.writes(notebook).encode())[0], Released(in_r()))


ANSWERS_IN_R = {
    "x <- 3 in a function": "f <- function(x) {\n  for (i in 1:3) x <- x\n  2 * x\n}",
    "Python's syntax error": "f <- function(x) if (is.na(x)) NA else 2 * x",
    "code that happens to be Python": "f = f",
    "printed quotes": "f <- function(x) { cat(\u201chi\u201d); 2 * x }",
}


@pytest.mark.parametrize("answer", ANSWERS_IN_R.values(), ids=ANSWERS_IN_R)
def test_an_answer_in_another_language_is_whole_and_not_doubted(answer):
    result = repaired_r(in_r(f=answer, m="m <- mean(data, na.rm = TRUE)"))
    assert result.repairs == [] and result.answered == 2
    assert result.notebook.cells[0].source == answer and result.notebook.metadata == IN_R


def test_an_answer_in_r_that_stands_in_a_cell_of_its_own_is_not_undone_by_the_stub():
    notebook = in_r(m="m <- 1")
    notebook.cells.insert(1, new_code_cell("f <- function(x) 2 * x"))
    result = repaired_r(notebook)
    assert [cell.source for cell in result.notebook.cells[:2]] == [in_r().cells[0].source, "f <- function(x) 2 * x"]
    assert doubtful(result.repairs) == ()


def test_answers_in_r_without_identity_are_found_by_the_names_that_they_give():
    notebook = in_r(f="f <- function(y) {\n  y + y\n}", m="m <- sum(data) / 3")
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = {}, f"c{number}"
    notebook.metadata = {}
    result = repaired_r(notebook)
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in notebook.cells]
    assert [note.kind for note in result.repairs] == ["recognised"] and doubtful(result.repairs) == ()


def test_only_a_notebook_that_says_so_was_made_for_another_kernel():
    notebook = in_r(f="f <- 1", m="m <- 1")
    notebook.metadata = {}
    assert repaired_r(notebook).repairs == []
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    assert [note.kind for note in repaired_r(notebook).repairs] == ["other_kernel"]
