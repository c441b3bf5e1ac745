"""The examiner runs no text of a student's, however a test comes to hand it over."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.oral import Exam, lost, read_exams
from viva.engine.dialogue.guard import Guard, texts_of

EXAMS = read_exams(Path(__file__).with_name("guard.txt"))

WAYS = {
    "a method": "assert Runner().run(formula) == 7",
    "another name": "run = eval\nassert run(formula) == 7",
    "a function that is handed it": "assert list(map(eval, [formula])) == [7]",
    "a partial": "assert functools.partial(eval)(formula) == 7",
    "a name that is a text": "assert getattr(builtins, 'eval')(formula) == 7",
    "a function of the read-only cell's": "assert run(formula) == 7",
    "code that was compiled": "compiled = compile\nassert run_code(compiled(formula, 'formula', 'eval')) == 7",
    "a library that makes code of it": "import timeit\nTimer = timeit.__dict__['Timer']\n"
    "assert Timer(f'assert {formula} == 7').timeit(1) > 0",
    "a file that is imported": "with open('late.py', 'w') as file:\n    file.write(f'value = {formula}')\n"
    "import late\nassert late.value == 7",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_cell_that_runs_a_text_by_a_way_that_its_own_text_does_not_show_runs_in_the_candidate(grader, tmp_path, way):
    given = "run = lambda text: eval(text)\nrun_code = lambda code: eval(code)"
    Exam(EXAMS["formula"].format(given=given, test=WAYS[way]), grader, tmp_path).prove(inside=True)


def test_a_text_that_the_solution_did_not_have_is_not_run_and_what_a_test_wrote_is(grader, tmp_path):
    exam = Exam(EXAMS["by chance"], grader, tmp_path)
    assert exam.examination.inside == frozenset() and lost(exam.grade()) == {}
    for variant in exam.variants:
        ((found, (_, said)),) = lost(exam.grade(variant.answers)).items()
        assert found[1] == "nothing" and "a test must not run text from your code as code" in said


def test_a_pickle_that_is_more_than_plain_data_is_not_loaded(grader, tmp_path):
    exam = Exam(EXAMS["pickled"], grader, tmp_path)
    right, wrong = exam.variants
    assert lost(exam.grade()) == lost(exam.grade(right.answers)) == {}
    ((_, said),) = lost(exam.grade(wrong.answers)).values()
    assert "a test must not unpickle 'builtins.eval' for your code" in said


def test_a_format_is_looked_at_however_it_is_filled_in(grader, tmp_path):
    exam = Exam(EXAMS["ways to format"], grader, tmp_path)
    assert exam.examination.inside == frozenset() and lost(exam.grade()) == {}
    assert len(lost(exam.grade(exam.variants[0].answers))) == 5


def test_a_format_of_a_students_shows_what_a_test_fills_in_and_nothing_behind_it(grader, tmp_path):
    exam = Exam(EXAMS["template"], grader, tmp_path)
    assert exam.examination.inside == frozenset() and lost(exam.grade()) == {}
    for variant in exam.variants:
        assert bool(lost(exam.grade(variant.answers))) != variant.right, variant


def test_no_test_writes_into_the_pipes_of_its_process(grader, tmp_path):
    exam = Exam(EXAMS["written"], grader, tmp_path)
    right, wrong = exam.variants
    assert lost(exam.grade()) == lost(exam.grade(right.answers)) == {}
    ((_, said),) = lost(exam.grade(wrong.answers)).values()
    assert "a test must not open the file 4" in said


Point = namedtuple("Point", "x y")
with pd.option_context("mode.string_storage", "python"):
    PLAIN = [
        *(1, 2.5, 1j, "a", b"b", bytearray(b"c"), [1], (2,), {3}, frozenset({4}), {5: 6}, range(3), slice(1), ...),
        *(Decimal("1.5"), Fraction(1, 3), dt.date.max, dt.datetime.now(dt.UTC), dt.timedelta(1), Path("a")),
        *(Counter("aab"), OrderedDict(a=1), defaultdict(list, a=[1]), deque([1])),
        *(np.arange(3.0), np.float32(1), np.array(["a"]), np.datetime64("2020"), np.ma.array([1]), np.dtype("i4")),
        *(pd.Series([1, 2]), pd.DataFrame({"a": ["x"]}), pd.Timestamp("2020"), pd.Timedelta(1), pd.NaT, pd.NA),
        *(
            pd.Categorical(["a"]),
            pd.date_range("2020", periods=2),
            pd.MultiIndex.from_tuples([(1, 2)]),
            pd.Interval(0, 1),
        ),
        *(pd.array([1, None]), pd.Period("2020"), pd.Series(["x"], dtype="string")),
    ]


class Names(pickle.Unpickler):
    """Tells what a pickle holds."""

    def __init__(self, guard: Guard, file) -> None:
        super().__init__(file)
        self.guard = guard

    def find_class(self, module: str, name: str) -> object:
        self.guard._hear("pickle.find_class", (module, name))
        return super().find_class(module, name)


class Refused(Exception):  # noqa: N818
    """What the guard raises here."""


@pytest.fixture
def guard(tmp_path, monkeypatch) -> Guard:
    monkeypatch.chdir(tmp_path)

    def refuse(_: BaseException) -> None:
        raise Refused

    guard = Guard(refuse, range(3, 7))
    guard.awake = True
    return guard


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_plain_data_that_a_test_pickles_is_loaded(guard, tmp_path, value, protocol):
    tmp_path.joinpath("value").write_bytes(pickle.dumps(value, protocol))
    with tmp_path.joinpath("value").open("rb") as file:
        Names(guard, file).load()


def test_an_array_of_arrows_is_not_loaded_from_a_pickle_which_may_point_anywhere(guard, tmp_path):
    pytest.importorskip("pyarrow")
    tmp_path.joinpath("value").write_bytes(pickle.dumps(pd.Series(["a"], dtype="string[pyarrow]")))
    with tmp_path.joinpath("value").open("rb") as file, pytest.raises(Refused):
        Names(guard, file).load()


@pytest.mark.parametrize(
    "place",
    [
        *("builtins.eval", "builtins.getattr", "builtins.type", "os.system", "posix._exit", "__main__.expected"),
        *("functools.partial", "operator.methodcaller", "numpy.load", "pandas.read_pickle", "subprocess.Popen"),
        *("nothing.at_all", "numpy.testing.runstring", "collections.sys.modules"),
    ],
)
def test_anything_else_is_not(guard, place):
    with pytest.raises(Refused):
        guard._hear("pickle.find_class", tuple(place.rsplit(".", 1)))


def test_the_texts_of_a_code_are_those_of_its_functions_too():
    code = compile("a = 'x'\ndef f():\n    return ('y', lambda: 'z ')", "code", "exec")
    assert {"x", "y", "z"} <= set(texts_of(code))


def test_what_is_not_of_a_check_may_be_run(guard):
    guard.awake = False
    guard._hear("pickle.find_class", ("builtins", "eval"))


def test_a_library_that_runs_a_part_of_an_answer_does_so_in_the_candidate(grader, tmp_path):
    Exam(EXAMS["examples"], grader, tmp_path).prove(inside=True)


def test_the_import_of_a_file_that_was_written_has_its_own_reason(grader, tmp_path):
    exam = Exam(EXAMS["late module"], grader, tmp_path)
    (said,) = exam.examination.single_process_sentences().values()
    assert "import a file that your code wrote" in said and "text" not in said


def test_what_a_library_runs_of_a_students_answer_alone_is_refused(grader, tmp_path):
    exam = Exam(EXAMS["loaded"], grader, tmp_path)
    assert exam.examination.inside == frozenset() and lost(exam.grade()) == {}
    ((_, said),) = lost(exam.grade(exam.variants[0].answers)).values()
    assert "a test must not run text from your code as code" in said


@pytest.mark.parametrize("path", [3, 6, "/dev/fd/4", b"/dev/fd/4", "/proc/self/fd/5", "/proc/1/task/1/fd/4"])
def test_no_name_of_a_pipe_is_opened(guard, path):
    with pytest.raises(Refused):
        guard._hear("open", (path, "w", 0))
    guard._hear("open", ("data/fd/4", "r", 0))
    guard._hear("open", (7, "r", 0))


TICK = 0.02
"""Seconds in which the clock of a file system goes on."""


def test_the_text_of_a_module_of_the_courses_is_a_tests_own_until_it_is_written_to(guard, tmp_path):
    late, text = tmp_path / "late.py", f"value = {tmp_path.name}"
    time.sleep(TICK)
    late.write_text(text)
    guard._hear("compile", (text, "late"))
    assert guard.strange == {"late"}
    known = Guard(guard.refuse, guard.descriptors)
    known.awake = True
    known._hear("compile", (f"{text}\n".encode(), "late"))
    assert known.strange == set()
    time.sleep(TICK)
    late.write_text(text + "\n# another")
    known._hear("compile", (text + "\n# another", "late"))
    assert known.strange == {"late"}
    late.unlink()
    known._hear("compile", (text, "gone"))
    assert known.strange == {"late", "gone"}


LIBRARY = compile("def run(hear, text): hear('compile', (text, 'made'))", json.__file__, "exec")


@pytest.mark.parametrize(
    ("text", "message", "strange"),
    [
        *(("a + b", b"say a + b", True), ("name", b"a name", False), ("12", b"12", False), ("a + b", b"a+b", False)),
        *(("own + 1", b"own + 1", False), ("a + b", b"a + b" + bytes(200_000), False)),
    ],
)
def test_a_library_runs_what_tests_and_libraries_wrote(guard, text, message, strange):
    guard.own.add("own + 1")
    guard.note([], message)
    exec(LIBRARY, names := {})
    names["run"](guard._hear, text)
    assert bool(guard.strange) == strange


@pytest.mark.parametrize(("text", "strange"), [("1e05 + 0x1f - 2j", False), ("x", True), ("f(2)", False), ("é", True)])
def test_numbers_and_the_names_that_a_test_writes_are_its_own(guard, text, strange):
    guard.own.add("f")
    guard._hear("compile", (text, "made"))
    assert bool(guard.strange) == strange
