"""Objects of students' classes are described, whatever their attributes do."""

from __future__ import annotations

import contextlib
import pathlib

import pytest

from tests.oral import Exam, read_tables
from viva import wording
from viva.engine.dialogue import proxies
from viva.engine.dialogue.expected import Path
from viva.engine.dialogue.objects import OPERATIONS

TABLES = read_tables(pathlib.Path(__file__).with_name("operations.txt"))
EXAMS = TABLES[""]

ATTRIBUTES_OF_ITEMS = TABLES["attributes of items"]


@pytest.mark.parametrize("text", ATTRIBUTES_OF_ITEMS.values(), ids=ATTRIBUTES_OF_ITEMS)
def test_an_object_may_have_no_attribute_that_python_asks_for(grader, tmp_path, text):
    Exam(text, grader, tmp_path).prove()


ODD_CLASSES = {
    "its module is a property": "class Box:\n    __module__ = property(lambda self: 'm')",
    "its module is a number": "class Box:\n    __module__ = 5",
    "its name is a property": "class Box:\n    __name__ = property(lambda self: 1 / 0)",
    "it has no class to tell": "class Box:\n    __class__ = property(lambda self: 1 / 0)",
    "its class is another": "class Box:\n    __class__ = property(lambda self: int)",
    "its class tells nothing": """
class Odd(type):
    def __getattribute__(cls, name):
        if name in ("__mro__", "__module__", "__name__", "__qualname__", "__next__"): raise RuntimeError(name)
        return type.__getattribute__(cls, name)
class Box(metaclass=Odd):""",
}


@pytest.mark.parametrize("odd", ODD_CLASSES)
def test_an_object_is_described_whatever_its_class_says_of_itself(grader, tmp_path, odd):
    body = "    def __init__(self, size): self.size = size\n    def half(self): return self.size / 2"
    exam = Exam(EXAMS["box"] + f"--- right\n{ODD_CLASSES[odd]}\n{body}\n", grader, tmp_path)
    exam.prove()
    assert exam.grade(exam.variants[1].answers).integrity == []


def test_no_object_passes_for_plain_data_by_what_its_class_says_of_itself(grader, tmp_path):
    exam = Exam(EXAMS["foreign"], grader, tmp_path)
    assert "an object of class Yes" in wording.reason(exam.check(exam.variants[0].answers))


def test_a_proxy_asks_for_every_operation_that_the_candidate_can_do_and_for_no_other():
    asked = set()

    def note(operation, *_, **__):
        asked.add(operation)
        raise LookupError

    about = {"mro": [("__main__", "Box"), ("builtins", "object")], "class": True, "name": "Box", "origin": ""}
    home = proxies.Home(note)
    for cls in proxies.PROXIES:
        proxy = cls(home, 1, about, Path(""))
        for name in {name for one in cls.mro() for name in vars(one) if name[:2] == "__"} - {"__init__", "__class__"}:
            function = getattr(cls, name)
            for arguments in ((), (1,), ("a", 1)):
                with contextlib.suppress(LookupError, TypeError, AttributeError):
                    list(function(proxy, *arguments))
    for ask in (proxies.Type, lambda one: proxies.is_instance(one, int), lambda one: proxies.is_subclass(one, int)):
        with contextlib.suppress(LookupError):
            ask(proxy)
    assert asked == set(OPERATIONS)
