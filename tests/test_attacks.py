"""No attack gets a point, learns what is hidden, or harms its neighbours."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellTimeoutError
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade

from tests.attacks import BY_NBGRADER, CHEATS, FORGE, FOUND_BY_NBGRADER, READERS, VANDALS
from tests.oral import code_cell
from viva.engine import wire
from viva.engine.grading import Grader
from viva.engine.outcome import Outcome
from viva.engine.rehearsal import rehearse
from viva.engine.wire import SIMPLE, Reader
from viva.sandbox.confinement import Sandbox
from viva.verdict import Verdict

pytestmark = pytest.mark.usefixtures("processes")

SECRET = "rednaloperpla"
"""Stands in the hidden test, written backwards here and in the attacks, which must not hold it themselves."""
GIVEN = "import numpy as np\nnumbers = np.arange(6.0).reshape(2, 3)"
SOLUTION = "### BEGIN SOLUTION\ndef double(x):\n    return 2 * x\ntotal = 12\n### END SOLUTION"
TESTS = f"""### CHECK 1: two doubles to four
assert double(2) == 4
### CHECK 4: an array doubles
### BEGIN HIDDEN TESTS
label = "{SECRET[::-1]}"
rng = np.random.default_rng(7)
x = rng.normal(size=(2, 3))
assert np.allclose(double(x), x + x), "the array is not doubled"
np.testing.assert_allclose(double(numbers), numbers * 2)
### END HIDDEN TESTS
### CHECK 2: an answer is no function
### BEGIN HIDDEN TESTS
assert abs(double(lambda: 3)() - 6) < 1e-9 if callable(double) and False else double(-1.5) == -3
### END HIDDEN TESTS
### CHECK 3: the total
### BEGIN HIDDEN TESTS
assert total == 12 and abs(total - 12) < 1e-9
### END HIDDEN TESTS
"""


def notebook(answer: str):
    return new_notebook(
        cells=[
            code_cell("given", GIVEN),
            code_cell("answer", answer, solution=True, locked=False),
            code_cell("tests", TESTS, grade=True, points=10),
        ]
    )


@pytest.fixture(scope="module")
def quick():
    """A grader that has a time limit of three seconds."""
    grader = Grader(3.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), ("numpy", "matplotlib.pyplot"))
    yield grader
    grader.close()


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course") / "source" / "ps1"
    folder.mkdir(parents=True)
    nbformat.write(notebook(SOLUTION), folder / "ps1.ipynb")
    folder.parents[1].joinpath("gradebook.db").write_text(SECRET[::-1])
    for path in (folder, *folder.parents[:2], *folder.parents[1].rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return folder.parents[1]


@pytest.fixture(scope="module")
def examination(quick, course):
    return rehearse(course / "source" / "ps1" / "ps1.ipynb", quick)


def children(of: int) -> set[int]:
    """The processes below one, zombies included."""
    found, todo = set(), [of]
    while todo:
        for task in Path("/proc", str(todo.pop()), "task").glob("*/children"):
            new = set(map(int, task.read_text().split())) - found
            found |= new
            todo += new
    return found


@pytest.fixture
def attack(quick, examination, tmp_path, monkeypatch):
    """Grade an attack, and an honest submission after it; nothing may be left of the attack."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def attack(source: str) -> Outcome:
        before = children(os.getpid())
        outcome = quick.grade(notebook(source), examination)
        honest = quick.grade(notebook(SOLUTION), examination)
        assert honest.earned("tests") == 10
        assert outcome.faults == []
        assert children(os.getpid()) == before
        assert list(tmp_path.iterdir()) == []
        return outcome

    return attack


def printed(outcome: Outcome) -> str:
    shown = [str(item) for items, _ in outcome.outputs.values() for item in items]
    return "\n".join(shown + [result.printed for result in outcome.checks["tests"]])


def places(course: Path) -> str:
    """Assignments that tell a reader where to look."""
    known = {"SECRET": SECRET, "PLACES": [str(course), str(Path.cwd()), "/proc/self/environ", "/proc/1/cmdline"]}
    known["NAMES"] = ["gradebook.db", "source/ps1/ps1.ipynb", "nbgrader_config.py"]
    return "".join(f"{name} = {value!r}\n" for name, value in known.items())


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_earns_nothing(attack, name):
    outcome = attack(CHEATS[name])
    assert outcome.earned("tests") == 0, outcome.checks
    assert Verdict.UNGRADED not in {result.verdict for result in outcome.checks["tests"]}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_finds_nothing(attack, course, name):
    assert course.joinpath("gradebook.db").read_text() == SECRET[::-1]
    outcome = attack(places(course) + READERS[name])
    assert "FOUND" not in printed(outcome).replace('print("FOUND', "")
    assert SECRET[::-1] not in printed(outcome)
    assert outcome.earned("tests") == 0


@pytest.mark.parametrize("name", VANDALS)
def test_a_vandal_harms_nobody(attack, name):
    outcome = attack(VANDALS[name])
    deserved = 3 if "total = 12\n" in VANDALS[name] + "\n" else 0
    assert outcome.earned("tests") == deserved, outcome.checks
    assert len(printed(outcome)) < 5_000_000


def test_an_answer_that_differs_the_second_time_earns_what_each_check_sees(attack):
    source = "calls = iter([4])\ndef double(x):\n    return next(calls)\ntotal = 12"
    outcome = attack(source)
    assert [result.earned for result in outcome.checks["tests"]] == [1, 0, 0, 3]


LOOPS = """### CHECK 1: as many
### BEGIN HIDDEN TESTS
for number in range(count()):
    pass
assert count() == 3
### END HIDDEN TESTS
### CHECK 2: each doubles
### BEGIN HIDDEN TESTS
for got, wanted in zip(map(double, [1, 2, 3]), [2, 4, 6]):
    assert got == wanted
### END HIDDEN TESTS
### CHECK 4: normal numbers
### BEGIN HIDDEN TESTS
assert count() == 3 and np.random.randn(3).shape == (3,)
### END HIDDEN TESTS
"""
COUNT = "def count():\n    return 3\ndef double(x):\n    return 2 * x"


def in_cells(*sources: str, tests: str = LOOPS):
    """A notebook with these answers, the first in the answer cell, the others in cells of the student's own."""
    first, *others = sources
    cells = [code_cell("given", GIVEN), code_cell("answer", first, solution=True, locked=False)]
    cells += [new_code_cell(source, id=f"own-{place}") for place, source in enumerate(others)]
    return new_notebook(cells=[*cells, code_cell("tests", tests, grade=True, points=7)])


@pytest.fixture
def rehearsed(quick, tmp_path):
    """What the grader knows of a notebook in cells, by its tests and its solution."""

    def rehearsed(tests: str = LOOPS, solution: str = COUNT, grader: Grader = quick, **metadata: object):
        notebook = in_cells(f"### BEGIN SOLUTION\n{solution}\n### END SOLUTION", tests=tests)
        notebook.metadata.update(metadata)
        nbformat.write(notebook, tmp_path / "rehearsed.ipynb")
        return rehearse(tmp_path / "rehearsed.ipynb", grader)

    return rehearsed


@pytest.fixture
def earned(quick, rehearsed):
    """The points for each check of LOOPS."""
    known = rehearsed()

    def earned(*sources: str) -> list[float]:
        outcome = quick.grade(in_cells(*sources), known)
        assert outcome.faults == []
        return [result.earned for result in outcome.checks["tests"]]

    assert earned(COUNT) == [1, 2, 4]
    return earned


@pytest.mark.slow
def test_a_number_to_which_a_test_counts_for_ever_costs_its_check_alone_and_is_no_fault_of_the_grader(earned):
    assert earned(COUNT.replace("return 3", "return counts.pop(0)\ncounts = [10**13, 3, 3]")) == [0, 2, 4]


def test_the_end_of_an_iteration_does_not_end_the_loop_of_a_test(earned):
    assert earned(COUNT.replace("return 2 * x", "raise StopIteration")) == [1, 0, 4]
    assert earned(COUNT.replace("return 2 * x", "raise Stop\nclass Stop(StopIteration): pass")) == [1, 0, 4]


def test_nbgraders_own_engine_takes_the_end_of_an_iteration_for_the_end_of_the_test():
    source = in_cells(COUNT.replace("return 2 * x", "raise StopIteration"))
    graded, _ = Execute().preprocess(source, {})
    assert determine_grade(graded.cells[-1]) == (7, 7)


OPENED = """### CHECK 3: with
### BEGIN HIDDEN TESTS
with Open() as number:
    assert number == 3
### END HIDDEN TESTS
### CHECK 4: called back
### BEGIN HIDDEN TESTS
def double(x):
    assert x == 3, "not called with 3"
    return 2 * x
assert apply(double, 3) == 6
### END HIDDEN TESTS
"""
CALLED_BACK = OPENED.replace("with Open() as number:\n    assert number == 3", "assert apply(abs, -3) == 3")
OPEN = """class Open:
    def __enter__(self): return 3
    def __exit__(self, *error): return False
def apply(f, x):
    return f(x)
"""
SWALLOWING = """class Open:
    def __enter__(self): return 2
    def __exit__(self, *error): return True
def apply(f, x):
    try:
        f(0)
    except AssertionError:
        return 6
"""


def test_what_a_test_asserts_is_not_swallowed_by_its_caller(quick, rehearsed):
    known = rehearsed(CALLED_BACK, OPEN)
    assert known.inside == frozenset()
    assert quick.grade(in_cells(OPEN, tests=CALLED_BACK), known).earned("tests") == 7
    outcome = quick.grade(in_cells(SWALLOWING, tests=CALLED_BACK), known)
    assert outcome.earned("tests") == 0
    assert "not called with 3" in outcome.checks["tests"][1].reason


def test_a_test_inside_a_students_context_manager_is_a_single_process_cell_and_no_more_protected_there(
    quick, rehearsed
):
    """A context manager sees what is raised in its block, and may swallow it: no other process can hold that."""
    known = rehearsed(OPENED, OPEN)
    assert known.inside == {"tests"}
    assert quick.grade(in_cells(OPEN, tests=OPENED), known).earned("tests") == 7
    assert quick.grade(in_cells(SWALLOWING, tests=OPENED), known).earned("tests") == 7


def test_nbgraders_own_engine_lets_both_be_swallowed():
    graded, _ = Execute().preprocess(in_cells(SWALLOWING, tests=OPENED), {})
    assert determine_grade(graded.cells[-1]) == (7, 7)


def test_random_numbers_that_hang_numpy_are_not_taken_over(earned):
    zeros = "np.random.set_state(('MT19937', np.zeros(624, np.uint32), 624))\n"
    assert earned(zeros + COUNT) == [1, 2, 4]
    assert earned(COUNT.replace("    return 3", f"    {zeros}    return 3")) == [1, 2, 4]


@pytest.mark.slow
def test_a_cell_that_nobody_reads_does_not_hold_up_the_grader(earned):
    ahead = f"{FORGE}forge({{'outputs': [], 'raised': None, 'count': 1}})\ntime.sleep(10**6)"
    assert earned(ahead, "#" + 300_000 * "x") == [0, 0, 0]


def test_cells_of_the_students_own_that_only_wait_do_not_hold_up_the_batch(quick, examination, monkeypatch):
    monkeypatch.setattr("viva.engine.grading.OWN_CELLS", 2 / 60)
    waiting = ["import time\ntime.sleep(0.9)"] * 8
    outcome = quick.grade(in_cells("def double(x):\n    return 2 * x\ntotal = 12", *waiting, tests=TESTS), examination)
    assert outcome.earned("tests") == 10
    assert "not run" in str(outcome.outputs[9]) and "not run" not in str(outcome.outputs[2])


def test_what_hidden_lines_add_to_a_name_of_the_visible_ones_does_not_reach_the_student(quick, rehearsed):
    tests = f"""cases = ["visible"]
more = 3
### BEGIN HIDDEN TESTS
cases.append("{SECRET[::-1]}")
assert [count() for case in cases] == [3, 3]
### END HIDDEN TESTS
"""
    notebook = in_cells(COUNT, tests=tests)
    notebook.cells.append(new_code_cell("print(more, globals().get('cases'), get_ipython().user_ns)", id="later"))
    outcome = quick.grade(notebook, rehearsed(tests))
    assert outcome.earned("tests") == 7
    assert "3 " in str(outcome.outputs[3]) and SECRET[::-1] not in str(outcome.outputs)


def test_a_reason_has_an_end(quick, rehearsed):
    tests = "assert count() == 3, f'not {count()}'"
    outcome = quick.grade(in_cells("def count():\n    return 'x' * 10**7", tests=tests), rehearsed(tests))
    assert outcome.earned("tests") == 0 and len(str(outcome.checks)) < 100_000


@pytest.mark.slow
def test_without_a_private_tmpfs_no_folder_is_too_deep_or_closed_to_be_removed(rehearsed, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sandboxes = Sandbox.for_candidate(private_tmp=False), Sandbox.for_examiner()
    with contextlib.closing(Grader(3.0, sandboxes)) as grader:
        known = rehearsed(grader=grader)
        for name in ("folders deeper than a path is long", "folders that are closed to others"):
            assert grader.grade(in_cells(COUNT, f"{VANDALS[name]}\nimport time\ntime.sleep(1)"), known).faults == []
        assert [one.name for one in grader.candidates.folder.iterdir()] == ["home"]
    assert [path.name for path in tmp_path.iterdir()] == ["rehearsed.ipynb"]


def check_by_check(answer: str):
    """The notebook with a grade cell for each check, as stock nbgrader gives points to cells."""
    checks = re.findall(r"### CHECK (\d+): [^\n]*\n(.*?)(?=### CHECK|\Z)", TESTS, re.DOTALL)
    tests = [
        code_cell(f"tests{n}", source, grade=True, points=int(points)) for n, (points, source) in enumerate(checks)
    ]
    return new_notebook(cells=[*notebook(answer).cells[:2], *tests])


BY_CHANCE = {"forged answers on the way out"}
"""It writes into what may be sockets of the kernel: then nbgrader's client raises a ValueError and gives up."""


@pytest.mark.parametrize("name", [name for name in CHEATS if name not in BY_CHANCE])
def test_what_nbgraders_own_engine_gives_a_cheat(name):
    engine, points = Execute(timeout=15), BY_NBGRADER.get(name, 0)
    if points is None:
        with pytest.raises(CellTimeoutError):
            engine.preprocess(check_by_check(CHEATS[name]), {})
        return
    graded, _ = engine.preprocess(check_by_check(CHEATS[name]), {})
    assert sum(determine_grade(one)[0] for one in graded.cells[2:]) == points


@pytest.mark.parametrize("name", READERS)
def test_what_a_reader_finds_in_nbgraders_own_engine(course, name):
    graded, _ = Execute(timeout=15).preprocess(notebook(places(course) + READERS[name]), {})
    assert ("FOUND" in str([one.outputs for one in graded.cells])) == (name in FOUND_BY_NBGRADER)


MANY = """
import pandas as pd
class Many(list):
    def append(self, item):
        super().append(item | {"metadata": {"frames": [pd.Series([1])] * 3 + [{3}], "texts": ["a"]}})
type(get_ipython()).outputs.items = Many()
print("one")
def count(): return 3
"""


def test_of_a_reply_to_the_grader_nothing_is_built_that_it_does_not_use(quick, rehearsed, monkeypatch):
    tests, built = "### CHECK 7: a\nassert count() == 3", []
    known, build, decode, replies = rehearsed(tests), Reader.build, wire.decode, []
    monkeypatch.setattr(Reader, "build", lambda self, codec, parts: built.append(codec) or build(self, codec, parts))
    monkeypatch.setattr(wire, "decode", lambda *args, **how: replies.append(decode(*args, **how)) or replies[-1])
    outcome = quick.grade(in_cells(MANY, tests=tests), known)
    assert outcome.earned("tests") == 7
    assert "'frames': [None, None, None, None], 'texts': ['a']" in str(replies)
    assert set(built) <= SIMPLE


def test_the_work_of_reading_replies_is_paid_from_the_budget_and_ends_with_it(quick, rehearsed, monkeypatch):
    """By a clock of our own each look at a reply takes 100 seconds; there are two for each cell."""
    tests = "### CHECK 7: a\nassert count() == 3"
    known, ticks = rehearsed(tests, viva={"budget": 10_000}), itertools.count(step=100.0)
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    outcome = quick.grade(in_cells(COUNT, *["a = 1"] * 100, tests=tests), known)
    ran = sum(count is not None for _, count in outcome.outputs.values())
    assert (outcome.earned("tests"), 20 < ran <= 2 + 25) == (7, True)  # the student's own cells get half of the time
    nearly = replace(known, blueprint=replace(known.blueprint, budget=300))
    (result,) = quick.grade(in_cells(COUNT, tests=tests), nearly).checks["tests"]
    assert (result.verdict, result.cause.kind) == (Verdict.TIMEOUT, "no_time_left")


FOREIGN = """class Mine(UnicodeDecodeError):
    def __str__(self): return "told"
Mine.__module__, Mine.__qualname__ = "builtins", "UnicodeDecodeError"
def count():
    error = Mine("utf-8", b"abc", 0, 1, "reason")
    error.start, error.end = {start}, {start} + 1
    raise error
"""


@pytest.mark.parametrize("start", [-100, 2**40])
def test_no_byte_of_the_examiners_memory_is_told_and_it_lives_on(quick, rehearsed, start):
    tests = "### CHECK 4: a\nassert count() == 3\n### CHECK 3: more\nassert 1 + 1 == 2"
    outcome = quick.grade(in_cells(FOREIGN.format(start=start), tests=tests), rehearsed(tests))
    first, second = outcome.checks["tests"]
    assert (first.verdict, first.earned, second.earned) == (Verdict.ERROR, 0, 3) and outcome.faults == []
    assert first.reason.endswith(": told")


@pytest.mark.parametrize("name", ["KeyError", "ValueError", "type('N' * 10**6, (OSError,), {})"])
def test_an_exception_of_any_size_is_an_error_of_the_students(quick, rehearsed, name):
    tests = "### CHECK 7: a\nassert count() == 3"
    notebook = in_cells(f"def count():\n    raise {name}('\\0' * 17_000_000)", tests=tests)
    outcome = quick.grade(notebook, rehearsed(tests))
    (check,) = outcome.checks["tests"]
    assert check.verdict in (Verdict.ERROR, Verdict.FAILED) and outcome.faults == []
    assert len(str(outcome.checks)) < 250_000


ENDING = """### CHECK 3: a number
### BEGIN HIDDEN TESTS
import os, signal
assert count() != 4 or os.kill(os.getpid(), signal.SIGKILL)
### END HIDDEN TESTS
### CHECK 4: another
### BEGIN HIDDEN TESTS
assert double(2) == 4
### END HIDDEN TESTS
"""


@pytest.mark.slow
def test_an_answer_that_ends_the_examiner_each_time_costs_its_check_alone(quick, rehearsed):
    known = rehearsed(ENDING)
    for answer, verdict, earned in (("3", Verdict.PASSED, 7), ("4", Verdict.KILLED, 4)):
        outcome = quick.grade(in_cells(COUNT.replace("return 3", f"return {answer}"), tests=ENDING), known)
        assert outcome.faults == []
        assert (outcome.checks["tests"][0].verdict, outcome.earned("tests")) == (verdict, earned)


CREDITS = "score = sum(count() == 3 for _ in range(7)) if count() == 3 else count()\nscore"


@pytest.mark.parametrize(
    ("count", "earned"), [("3", 7), ("2.5", 2.5), ("float('nan')", 0), ("-1", 0), ("99", 7), ("[]", 0)]
)
def test_the_last_value_of_a_test_is_no_more_than_its_points(quick, rehearsed, count, earned):
    tests = f"### CHECK 7: a\n{CREDITS}"
    outcome = quick.grade(in_cells(f"def count():\n    return {count}", tests=tests), rehearsed(tests))
    assert outcome.earned("tests") == earned
