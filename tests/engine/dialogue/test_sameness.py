"""A test that looks at which values are one object means in two processes what it means in one."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.oral import Exam, lost, read_tables
from viva.engine.dialogue.sameness import BYTES, CHANGES, MOST, Observer

GIVEN = """
--- given
import copy
import operator
import random
import unittest
import numpy as np
import pandas as pd
"""
TABLES = read_tables(Path(__file__).with_name("sameness.txt"))
ROWS = {"looks_again": TABLES["looks again"], "identity": TABLES["identity"], "": TABLES["two processes"]}
"""By the reason why each test is a single-process cell; the last notice no copies, or what they notice crosses."""


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    """All rows in one notebook, each an answer and a test, and for each what a wrong answer is."""
    hidden = "--- test\n### CHECK 1: it\n### BEGIN HIDDEN TESTS\n"
    rows = [row.replace("--- test\n", hidden) for table in ROWS.values() for row in table.values()]
    return Exam(GIVEN + "### END HIDDEN TESTS".join([*rows, "\n"]), grader, tmp_path_factory.mktemp("identity"))


def test_what_looks_at_which_values_are_one_is_a_single_process_cell_and_nothing_else(exam):
    names = [(kind, name) for kind, table in ROWS.items() for name in table]
    reasons = {cell: why.kind for cell, why in exam.examination.single_process.items()}
    found = {name: reasons.get(cell, "") for (_, name), cell in zip(names, exam.tests, strict=True)}
    assert found == {name: kind for kind, name in names}


def test_the_right_answers_pass_and_each_wrong_one_earns_nothing(exam):
    names = [name for table in ROWS.values() for name in table]
    assert lost(exam.grade()) == {}
    wrong = {cell: source for variant in exam.variants for cell, source in variant.answers.items()}
    failed = {cell for cell, _ in lost(exam.grade(wrong))}
    assert [name for name, cell in zip(names, exam.tests, strict=True) if cell not in failed] == []


CHANGED: dict[str, tuple[object, Callable, bool]] = {
    "a list": ([1], lambda x: x.append(2), True),
    "an empty list": ([], lambda x: x.append(2), True),
    "a list in which something else stands": ([1, "a"], lambda x: x.reverse(), True),
    "a list that becomes too large": ([1], lambda x: x.extend([0] * (BYTES // 8 + 1)), True),
    "a list that is too large": ([0] * (BYTES // 8 + 1), lambda x: x.clear(), False),
    "a deque": (deque([1]), lambda x: x.append(2), True),
    "a dict": ({"a": 1}, lambda x: x.update(a=2), True),
    "a set": ({1, "a"}, lambda x: x.discard("a"), True),
    "a bytearray": (bytearray(b"a"), lambda x: x.extend(b"b"), True),
    "an array": (np.arange(3.0), lambda x: x.fill(7), True),
    "an empty array": (np.zeros(0), lambda x: x.fill(7), False),
    "an array of texts": (np.array(["a", "b"]), lambda x: x.fill("c"), True),
    "an array of objects": (np.array([1, "a", None], object), lambda x: x.fill(None), True),
    "an array of rows": (np.zeros(2, [("a", int)]), lambda x: x["a"].fill(3), True),
    "an array that is too large": (np.zeros(BYTES), lambda x: x.fill(7), False),
    "a frame": (pd.DataFrame({"a": [1, 2]}), lambda x: x.insert(0, "b", 1), True),
    "what is as it was": ([1], lambda x: None, False),
    "what is as it was again": ([1], lambda x: (x.append(2), x.pop()), False),
}


@pytest.mark.parametrize(("value", "change", "noticed"), CHANGED.values(), ids=CHANGED)
def test_a_change_of_one_of_two_equal_results_is_noticed_when_the_other_is_looked_at(value, change, noticed):
    observer = Observer()
    observer.watching = True
    first, second = copy.deepcopy(value), copy.deepcopy(value)
    for name, result in (("f", first), ("g", second)):
        observer.asking()
        observer.given(result, "call", (name,), {}, drawn=False)
    change(first)
    assert observer.seen(first) is first and observer.why == ""
    observer.seen({"results": [second]})
    assert (observer.why == "looks_again") is noticed


def test_what_is_observed_of_a_test_that_asks_a_thousand_times_stays_small():
    observer = Observer()
    observer.watching = True
    for number in range(1_000):
        result = [number]
        observer.asking()
        observer.given(result, "call", ("f", number), {}, drawn=False)
        result.append(1)
    assert len(observer.copies) <= MOST and len(observer.answers) <= MOST and len(observer.changes) <= CHANGES
    assert observer.why == ""
