"""What lives in one process has one name in both, and a name of nothing is refused."""

from __future__ import annotations

import gc
import math
import types
from pathlib import Path

import numpy as np
import pytest

from tests.oral import Exam, lost, read_tables
from viva.engine.dialogue.asker import Asker
from viva.engine.dialogue.expected import OWN, PLAIN, path_of
from viva.engine.dialogue.proxies import CallableProxy, IteratorProxy, Proxy, number_of
from viva.engine.dialogue.references import TYPES, References
from viva.engine.wire import Reference
from viva.verdict import CandidateLied, WireError

TABLES = read_tables(Path(__file__).with_name("references.txt"))
EXAMS = TABLES[""]

OBJECT = {
    "of": "candidate",
    "type": "Model",
    "mro": [("__main__", "Model"), ("builtins", "object")],
    "class": False,
    "callable": False,
    "iterator": False,
    "name": "",
    "origin": "",
}
"""What the candidate says about an object of a student's class."""


@pytest.fixture
def references() -> References:
    return Asker(-1, -1).references


def resolved(references: References, number: int = 3, path: str = "x", **about: object) -> tuple[object, list]:
    """What an object is here that the candidate says this about, and what it was noted as."""
    found: list[Reference] = []
    return references.resolve(Reference(number, OBJECT | about), path_of(path), found), found


def test_a_function_of_a_test_is_named_by_a_number_and_comes_back_as_itself(references):
    functions = [lambda: 1, lambda: 2]
    named = [references.refer(function) for function in functions]
    assert [one.about for one in named] == [{"of": "examiner", "name": "<lambda>", "parameters": [], "doc": None}] * 2
    assert [references.resolve(one, path_of("f()"), []) for one in named] == functions


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (len, ("builtins", "len")),
        (math.sqrt, ("math", "sqrt")),
        (np.linalg.norm, ("numpy.linalg", "norm")),
        (np.ndarray, ("numpy", "ndarray")),
        (types.MappingProxyType, ("types", "MappingProxyType")),
        (zip, ("builtins", "zip")),
    ],
)
def test_what_a_library_holds_is_named_by_its_place(references, value, place):
    about = references.refer(value).about
    assert (about["of"], about["module"], about["qualname"]) == ("library", *place)
    assert references.functions == []


def test_what_is_the_graders_own_has_no_place(references):
    assert references.refer(Asker).about == {"of": "examiner", "name": "Asker", "parameters": None, "doc": None}
    assert references.refer(object()) is None


@pytest.mark.parametrize(
    ("about", "cls"),
    [({}, Proxy), ({"callable": True}, CallableProxy), ({"iterator": True}, IteratorProxy)],
)
def test_an_object_has_one_proxy_for_each_path_as_long_as_the_test_holds_it(references, about, cls):
    one, found = resolved(references, **about)
    assert type(one) is cls and number_of(one) == 3 and [each.id for each in found] == [3]
    assert references.refer(one) == Reference(3, {"of": "candidate"})
    assert resolved(references, **about)[0] is one
    assert resolved(references, path="y", **about)[0] is not one
    assert resolved(references, 4, **about)[0] is not one
    del one, found
    gc.collect()
    assert list(references.proxies) == []


@pytest.mark.parametrize("name", sorted(TYPES))
def test_pythons_own_types_are_the_same_on_both_sides(references, name):
    cls, found = resolved(references, **{"class": True, "origin": f"builtins:{name}"})
    assert cls.__name__ == name and len(found) == 1
    assert type(resolved(references, origin=f"builtins:{name}")[0]) is Proxy, "it says that it is no class"


def test_only_what_the_solution_imports_is_the_examiners_own(references):
    references.expected.learn({"norm": "numpy.linalg:norm", "np": f"{OWN}numpy:", "dtype": "numpy:float32"})
    assert type(resolved(references, path="norm", origin="numpy.linalg:norm")[0]) is Proxy, "whoever says so"
    assert type(resolved(references, path="norm", origin="numpy:sum")[0]) is Proxy
    assert resolved(references, path="np") == (np, []), "whatever the student's name means"
    assert resolved(references, path="dtype", origin="numpy:float32") == (np.float32, []), "it has no code"
    assert type(resolved(references, path="dtype", origin="numpy:float64")[0]) is Proxy


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("dict_items", [1]),
        ("ndarray", 5),
        ("ndarray", ((1, 1), [2, 4, 6])),
    ],
)
def test_contents_that_are_none_are_a_lie(references, name, contents):
    with pytest.raises(CandidateLied, match="invalid contents"):
        resolved(references, type=name, contents=contents)


@pytest.mark.parametrize(
    ("number", "about"),
    [
        (0, {}),
        (0, {"of": "examiner"}),
        (1, {"of": "examiner"}),
        (-1, {"of": "examiner"}),
        (0, {"of": "library", "module": "os", "qualname": "system"}),
        (0, {"of": "candidate"}),
        (0, OBJECT | {"of": "nobody"}),
        *((0, OBJECT | {"mro": mro}) for mro in ([], [("a",)], [("a", 1)], ["ab"], (("a", "b"),))),
        *((0, OBJECT | {name: 5}) for name in OBJECT),
    ],
)
def test_a_reference_to_nothing_is_refused(references, number, about):
    if about.get("of") == "examiner" and number:
        references.refer(lambda: 1)
    with pytest.raises(WireError, match="an invalid reference"):
        references.resolve(Reference(number, about), "x", [])


def test_a_class_may_derive_from_a_plain_type_where_the_solutions_does_not(grader, tmp_path):
    exam = Exam(EXAMS["subclasses"], grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(exam.variants[1].answers))) == 7


def test_where_the_solution_gives_plain_values_a_subclass_is_its_base_value_whatever_its_methods_say(grader, tmp_path):
    exam = Exam(EXAMS["plain there"], grader, tmp_path)
    right, wrong = exam.variants
    assert not exam.examination.inside and lost(exam.grade(right.answers)) == {}
    assert len(lost(exam.grade(wrong.answers))) == 6


def test_what_is_said_of_a_base_value_counts_only_where_the_solution_was_plain(references):
    references.expected.learn({"x": PLAIN, "y": ""})
    assert resolved(references, base=[1, 2]) == ([1, 2], [])
    value, found = resolved(references, path="y", base=[1, 2])
    assert type(value) is Proxy and len(found) == 1


IN_PLACE = TABLES["in place"]


@pytest.mark.parametrize("text", IN_PLACE.values(), ids=IN_PLACE)
def test_what_a_student_may_give_in_the_place_of_what_the_solution_gives(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove()
