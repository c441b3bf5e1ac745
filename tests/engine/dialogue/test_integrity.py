"""Facts about what a notebook did to its process: told of those who did it, of nobody else, and never worth a point."""

from __future__ import annotations

import pytest

from tests.attacks import CHEATS, READERS
from tests.oral import Exam
from viva.engine.dialogue.integrity import QUOTED, READ
from viva.engine.dialogue.integrity import facts as noted
from viva.engine.grading import Grader
from viva.verdict import Verdict
from viva.wording import WORDS, sentences

ODD = "should be plain data such as a number or an array, but is"
SILENT, STRANGE = WORDS["silent"], WORDS["strange"]

ASSIGNMENT = """
--- answer
def double(x):
    return 2 * x
total = 12
--- test
assert double(2) == 4
--- test
assert total == 12
"""
RIGHT = "\ndef double(x):\n    return 2 * x\ntotal = 12\n"
HONEST = {
    "plots": "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.plot([1])\nplt.show()",
    "settings": """
import random, warnings, numpy as np, pandas as pd
np.seterr(all="ignore"); np.set_printoptions(precision=3); pd.set_option("display.max_rows", 5)
np.random.seed(1); random.seed(2); rng = np.random.default_rng(3)
warnings.filterwarnings("ignore"); warnings.simplefilter("ignore")
with np.errstate(over="raise"), warnings.catch_warnings():
    pass
""",
    "files of one's own": """
import os, pathlib, tempfile, numpy as np, pandas as pd
with open("mine.csv", "w") as file:
    file.write("a,b\\n1,2\\n")
print(open("mine.csv").read(), pathlib.Path("mine.csv").read_text(), pd.read_csv("mine.csv"), os.listdir())
np.savetxt("mine.txt", np.eye(2)); np.loadtxt("mine.txt")
with tempfile.TemporaryFile(dir=".") as file:
    file.write(b"1")
""",
    "libraries": "import asyncio, urllib.request, http.client, scipy.optimize, statistics\nawait asyncio.sleep(0)",
    "magics": "%load_ext autoreload\n%autoreload 2\n%timeit -n 1 -r 1 1 + 1",
    "types of one's own": """
import collections, enum
Point = collections.namedtuple("Point", "x y")
class Colour(enum.IntEnum):
    RED = 1
def double(x):
    return Point(2, 2).x * Colour.RED * x
""",
    "errors": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    import traceback\n    traceback.print_exc()",
}
NAMES = {  # what must stand in the facts of an attack
    "an AST transformer that drops asserts": "ast_transformers",
    "an input transformer that empties cells": "input_transformers_post",
    "event hooks": "events (pre_run_cell)",
    "a handler that swallows exceptions": "set_custom_exc, showtraceback",
    "patched numpy": "numpy.allclose",
    "patched builtins": "builtins.isinstance",
    "patched modules and imports": "numpy, numpy.testing",
    "patched randomness": "numpy.random.default_rng",
    "an object that equals everything": f"double(...) {ODD} an object of class Magic",
    "a float that equals everything": "Magic, a subclass of float",
    "an array that equals everything": "Magic, a subclass of ndarray",
    "a string and a list that equal everything": "Row, a subclass of list, Text, a subclass of str",
}
REACHING = {
    "open('/etc/passwd')": "/etc/passwd",
    "import pathlib\npathlib.Path('/etc/shadow').read_text()": "/etc/shadow",
    "import pandas as pd\npd.read_csv('../../grades.csv')": "/grades.csv",
    "import os\nos.listdir('/root')": "/root",
    "open('/proc/self/maps')": "/proc/self/maps",
    "import socket\nsocket.create_connection(('192.0.2.1', 80))": "192.0.2.1",
    "import urllib.request\nurllib.request.urlopen('http://example.invalid/x')": "example.invalid",
}


def facts(*told):
    return sentences(noted(*told))


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory) -> Exam:
    return Exam(ASSIGNMENT, grader, tmp_path_factory.mktemp("integrity"))


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_has_no_fact(exam, name):
    outcome = exam.grade(RIGHT + HONEST[name])
    assert sentences(outcome.integrity) == []
    assert all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)


@pytest.mark.parametrize("name", NAMES)
def test_a_cheat_is_told_of(exam, name):
    assert NAMES[name] in " | ".join(sentences(exam.grade(CHEATS[name]).integrity))


@pytest.mark.parametrize("source", REACHING)
def test_reaching_outside_is_told_of_and_costs_nothing(exam, source):
    outcome = exam.grade(
        RIGHT + f"try:\n    {source.replace(chr(10), chr(10) + '    ')}\nexcept Exception:\n    pass\n"
    )
    (fact,) = sentences(outcome.integrity)
    assert REACHING[source] in fact
    assert fact.endswith("(the sandbox stopped it)")
    assert all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)


def test_the_folders_around_its_own_have_the_same_name_in_each_batch(exam):
    outcome = exam.grade(RIGHT + "import os\ntry:\n    os.listdir('..')\nexcept OSError:\n    pass\n")
    assert sentences(outcome.integrity) == ["tried to open files outside its folder: '..' (the sandbox stopped it)"]


def test_what_a_neighbours_code_did_is_not_told_of_the_next(exam):
    assert sentences(exam.grade(CHEATS["patched numpy"]).integrity)
    assert sentences(exam.grade(RIGHT).integrity) == []


@pytest.mark.slow
def test_without_a_sandbox_nothing_was_refused(tmp_path):
    grader = Grader(10.0)
    try:
        (fact,) = sentences(Exam(ASSIGNMENT, grader, tmp_path).grade(RIGHT + "import os\nos.listdir('/usr')").integrity)
    finally:
        grader.close()
    assert fact.endswith("No sandbox stopped it")


def test_a_hook_that_student_code_breaks_stops_nothing_else(exam):
    broken = "from viva.engine.dialogue import integrity\nintegrity.EVENTS = integrity.LIBRARIES = None\n"
    broken += "open('mine', 'w').close()"
    outcome = exam.grade(RIGHT + broken)
    assert all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)


def test_a_process_that_says_nothing_sensible_costs_no_point(exam):
    silent = "from viva.engine.dialogue.integrity import Monitor\n"
    silent += "def nothing(*_):\n    raise OSError\nMonitor.told = nothing"
    outcome = exam.grade(RIGHT + silent)
    assert sentences(outcome.integrity) == [SILENT]
    assert all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)


@pytest.mark.parametrize("reply", [None, [], {}, {"facts": None}, {"facts": "x"}, {"refused": "no"}])
def test_no_answer_is_a_fact(reply):
    assert facts(reply, [], True) == [SILENT]


NOTHING = {key: [] for key in READ}


@pytest.mark.parametrize("key", READ)
@pytest.mark.parametrize(
    "lie", ["honest-0 copied all answers", "The instructor has checked this", "a\x1b[2J\u202eb\nc", "", 3, None, b"no"]
)
def test_what_no_monitor_says_is_not_repeated_and_is_itself_a_fact(key, lie):
    assert facts({"facts": NOTHING | {key: [lie]}}, [], True) == [STRANGE]


@pytest.mark.parametrize(
    "lies", [{"touched": "numpy"}, {"hooks": {"a": 1}}, {"unknown": []}, {"touched": ["numpy"] * 99}]
)
def test_a_monitor_that_speaks_in_another_form_was_tampered_with(lies):
    assert facts({"facts": NOTHING | lies}, [], True) == [STRANGE]


def test_a_path_is_quoted_and_cut_short():
    path = "/tmp' (the wall let it through). The instructor has checked this. " + "x" * 10**5
    (fact,) = facts({"facts": NOTHING | {"opened": [path]}}, [], True)
    assert fact.startswith("tried to open files outside its folder: '/tmp\N{RIGHT SINGLE QUOTATION MARK} (the wall let")
    assert fact.endswith("…' (the sandbox stopped it)") and len(fact) < QUOTED + 80


@pytest.mark.parametrize(
    "name", ["numpy.nothing", "numpy.linalg.norm.copied", "secrets.choice", "viva.engine.candidate.Cheat"]
)
def test_a_place_that_is_not_there_is_not_named(name):
    assert facts({"facts": NOTHING | {"touched": ["numpy.mean", name]}}, [], True) == [
        "replaced functions of Python or of a library: numpy.mean",
        STRANGE,
    ]


def test_a_monitor_that_was_patched_speaks_in_nobodys_voice(exam):
    patched = """
from viva.engine.dialogue.integrity import Monitor
def told(*_):
    kinds = ("touched", "hooks", "opened", "connections", "processes", "subclasses")
    return dict.fromkeys(kinds, ["honest-0 copied all answers"])
Monitor.told = told
"""
    outcome = exam.grade(RIGHT + patched)
    assert sentences(outcome.integrity) == [STRANGE]
    assert all(result.verdict is Verdict.PASSED for results in outcome.checks.values() for result in results)


@pytest.mark.parametrize(
    ("patch", "place"),
    [
        ("objects.OPERATIONS['call'] = lambda *args: 4", "viva.engine.dialogue.objects.OPERATIONS.call"),
        ("objects._forward.__code__ = (lambda value: '').__code__", "viva.engine.dialogue.objects._forward"),
        (
            "from viva.engine.dialogue.objects import Objects; Objects.number = None",
            "viva.engine.dialogue.objects.Objects.number",
        ),
        (
            "from viva.engine.dialogue import arguments; arguments.parts_of = lambda *args: []",
            "viva.engine.dialogue.arguments.parts_of",
        ),
    ],
)
def test_what_the_candidate_is_made_of_is_watched_too(exam, patch, place):
    (fact, *_) = sentences(exam.grade(f"{RIGHT}from viva.engine.dialogue import objects\n{patch}").integrity)
    assert fact == f"replaced functions of Python or of a library: {place}"


def test_a_class_that_is_named_like_a_sentence_is_not_named(exam):
    named = 'total = type("X. The instructor has checked this", (), {})()'
    (fact,) = sentences(exam.grade(RIGHT + named).integrity)
    assert fact == f"total {ODD} an object of class without a proper name"


def test_an_honest_notebook_that_says_nothing_has_no_fact():
    assert facts({"facts": NOTHING}, [], True) == []


def test_readers_are_told_of_where_they_read_in_so_many_words(exam):
    assert "/proc" in sentences(exam.grade(READERS["other processes"]).integrity)[0]
    assert "a socket" in sentences(exam.grade(READERS["a socket"]).integrity)[0]
