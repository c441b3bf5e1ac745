"""What lives in one process has one name in both, and a name of nothing is refused."""

from __future__ import annotations

import gc
import math
import types

import numpy as np
import pytest

from viva.engine.dialogue.asker import Asker
from viva.engine.dialogue.kinds import OWN, PLAIN
from viva.engine.dialogue.references import TYPES, References
from viva.engine.dialogue.standin import CallableStandIn, IteratorStandIn, StandIn, get_number
from viva.engine.wire import Reference
from viva.verdict import CandidateLied, WireError

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
    return references.resolve(Reference(number, OBJECT | about), path, found), found


def test_a_function_of_a_test_is_named_by_a_number_and_comes_back_as_itself(references):
    functions = [lambda: 1, lambda: 2]
    named = [references.refer(function) for function in functions]
    assert [one.about for one in named] == [{"of": "examiner", "name": "<lambda>"}] * 2
    assert [references.resolve(one, "f()", []) for one in named] == functions


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
    assert references.refer(Asker).about == {"of": "examiner", "name": "Asker"}
    assert references.refer(object()) is None


@pytest.mark.parametrize(
    ("about", "cls"),
    [({}, StandIn), ({"callable": True}, CallableStandIn), ({"iterator": True}, IteratorStandIn)],
)
def test_an_object_has_one_stand_in_for_each_path_as_long_as_the_test_holds_it(references, about, cls):
    one, found = resolved(references, **about)
    assert type(one) is cls and get_number(one) == 3 and [each.id for each in found] == [3]
    assert references.refer(one) == Reference(3, {"of": "candidate"})
    assert resolved(references, **about)[0] is one
    assert resolved(references, path="y", **about)[0] is not one
    assert resolved(references, 4, **about)[0] is not one
    del one, found
    gc.collect()
    assert list(references.stand_ins) == []


@pytest.mark.parametrize("name", sorted(TYPES))
def test_pythons_own_types_are_the_same_on_both_sides(references, name):
    cls, found = resolved(references, **{"class": True, "origin": f"builtins:{name}"})
    assert cls.__name__ == name and len(found) == 1
    assert type(resolved(references, origin=f"builtins:{name}")[0]) is StandIn, "it says that it is no class"


def test_what_the_solution_took_from_a_library_is_the_examiners_own(references):
    references.asker.kinds.known |= {"norm": "numpy.linalg:norm", "np": f"{OWN}numpy:"}
    assert resolved(references, path="norm", origin="numpy.linalg:norm") == (np.linalg.norm, [])
    assert type(resolved(references, path="norm", origin="numpy:sum")[0]) is StandIn
    assert resolved(references, path="np") == (np, []), "whatever the student's name means"


def test_where_the_solution_gave_a_list_an_iterator_is_read_item_by_item(references, monkeypatch):
    references.asker.kinds.known["f()"] = PLAIN
    items, asked = iter([1, 2]), []

    def operate(operation: str, iterator: StandIn, path: str) -> object:
        asked.append((operation, get_number(iterator), path))
        return next(items)

    monkeypatch.setattr(references.asker, "operate", operate)
    value, found = resolved(references, path="f()", iterator=True)
    assert list(value) == [1, 2] and found == []
    assert asked == [("next", 3, "f()[*]")] * 3


def test_a_view_of_a_dictionary_is_one(references):
    value, found = resolved(references, type="dict_keys", contents=["a", "b"])
    assert value == {"a": 1, "b": 2}.keys() and found == []


@pytest.mark.parametrize(("name", "contents"), [("dict_items", [1]), ("ndarray", 5), ("ndarray", ((1, 1), [2, 4, 6]))])
def test_contents_that_are_none_are_a_lie(references, name, contents):
    with pytest.raises(CandidateLied, match="contents that are none"):
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
    with pytest.raises(WireError, match="a reference to nothing"):
        references.resolve(Reference(number, about), "x", [])
