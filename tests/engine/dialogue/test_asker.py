"""Whatever a candidate answers, the examiner tells of the check, and never that the grader failed."""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.odd import FUNCTION, Named, Odd, refer
from tests.oral import Exam, lost, read_exams
from viva.engine import pipe, wire
from viva.engine.dialogue.asker import Asker, CheckState
from viva.engine.dialogue.expected import ANY, path_of
from viva.engine.outcome import CHARACTERS
from viva.engine.values.sharing import NEWS
from viva.verdict import CandidateLied, Verdict

EXAMS = read_exams(Path(__file__).with_name("asker.txt"))

pytestmark = pytest.mark.usefixtures("processes")

MEMORY = 3 << 30
ANSWERS = 25
"""So many odd answers are given in one check; then what is no message ends it."""
TESTS = {
    "an assertion": "assert f([1]) == 2, f(3)",
    "a message with the value in it": "x = f(1)\nassert not x, f'got {x!r} and {x}'",
    "a message that is asked for": "assert f.x == 0, f\nassert False, f",
    "arrays": "import numpy as np\nnp.testing.assert_allclose(f(1), [1.0, 2.0])",
    "nested values": "import numpy as np\nnp.testing.assert_equal(f(1), {'a': [1, 2]})",
    "an exception": "try:\n    f(1)\nexcept Exception as e:\n    str(e), repr(e), e.args, vars(e), f'{e.__cause__!r}'\n"
    "    [getattr(e, n, 0) for n in dir(e)]\n    raise",
    "an exception of a kind": "import unittest\nunittest.TestCase().assertRaises(UnicodeDecodeError, f, 1)",
    "a loop": "for v, _ in zip(f(1), range(1000)):\n    print(v)",
    "a generator": "def g():\n    return (yield from f(1))\nassert [v for v, _ in zip(g(), range(1000))] == [1]",
    "a callback": "def h(*args, **kwargs):\n    assert len(args) < 2, args\n    return args[0]\nassert f(h) == 1",
    "a context": "with f(1) as z:\n    raise ValueError(z)",
    "an object": "hash(f), str(f), len(f), f[0], f + 1, isinstance(f, list), type(f), dir(f), f.a(1).b[2], f.__class__",
    "a signature": "import inspect\nassert str(inspect.signature(f)) == '(x)', f.__doc__",
    "warnings": "import warnings\nwith warnings.catch_warnings(record=True) as w:\n"
    "    warnings.simplefilter('always')\n    f(1)\nassert not w, [str(one.message) for one in w]",
    "warnings as errors": "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')\n"
    "    f(1)",
    "what is changed in place": "a, b = [1, [2]], {'a': 1}\nc = f(a, x=b)\nf(c)\n"
    "assert a == [1, [2]] and b == {'a': 1}",
    "a name": "assert y == 3\nglobals()['y'], locals(), dir()\ndel y",
    "random numbers": "import numpy as np, random\nf(1)\n"
    "assert np.isfinite(np.random.randn()) and random.gauss(0, 1) < 9",
    "a number at the end": "f(1)",
}


class Examined:
    """An examiner in a process of its own, and the pipes to it."""

    def __init__(self) -> None:
        pipes = [os.pipe() for _ in range(4)]
        (to, self.request), (self.reply, back), (self.question, ask), (hear, self.answer) = pipes
        theirs = [to, back, ask, hear]
        self.process = subprocess.Popen(
            [sys.executable, "-c", EXAMS["program"], ",".join(map(str, theirs)), ":".join(sys.path)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
        )
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        for descriptor in theirs:
            os.close(descriptor)
        self.ask(None, do="own", names=["f", "y"])

    def ask(self, answer, **request) -> dict:
        """The examiner's reply to a request, while ``answer(question)`` gives the candidate's messages."""
        pipe.write(self.request, wire.encode(request))
        while True:
            ready, _, _ = select.select([self.reply, self.question], [], [], 60)
            assert ready, "the examiner hangs"
            if self.reply in ready:
                return wire.decode(pipe.read(self.reply))
            question = wire.decode(pipe.read(self.question), lambda reference: reference)
            pipe.write(self.answer, answer(question))

    def close(self) -> None:
        for descriptor in (self.request, self.reply, self.question, self.answer):
            os.close(descriptor)
        assert self.process.wait(10) == 0


@pytest.fixture(scope="module")
def examined():
    found = Examined()
    yield found
    found.close()


def answering(odd: Odd):
    """The candidate: its function is one at first, all else is odd."""
    left = ANSWERS
    honest = wire.encode({"value": Named(0, FUNCTION)}, refer)

    def answer(question: dict) -> bytes:
        nonlocal left
        left -= 1
        if left < 0:
            return b"\xc1"
        if question.get("do") == "random":
            return wire.encode({}) if odd.random.random() < 0.9 else odd.message()
        named = question.get("operation") == "name" and question["args"] == ("f",)
        return honest if named and odd.random.random() < 0.9 else odd.message()

    return answer


def tried(examined: Examined, name: str, seed: int) -> dict:
    """The report on a check that met odd answers."""
    answer = answering(Odd(f"{name} {seed}"))
    kind = ANY if seed % 3 else ""  # what comes of an object may be an object too, or plain data only
    examined.ask(None, do="prepare", kinds={"f": kind, "y": kind}, recording=False)
    told = examined.ask(answer, do="begin", cell="cell", prelude="", visible=["a", "x"])
    if told.get("report", {}).get("verdict") == "passed":
        told = examined.ask(answer, do="check", title=name, source=TESTS[name])
    assert "fault" not in told, (name, seed, told["fault"])
    report = told["report"]
    assert report["verdict"] in set(Verdict) - {Verdict.UNGRADED, Verdict.KILLED}, (name, seed, report)
    assert all(len(value) <= CHARACTERS for value in report.values() if isinstance(value, str)), (name, seed)
    finished = examined.ask(answer, do="finish", pushed=["a", "x", "c"])
    assert finished == {}, (name, seed, finished["fault"])
    return report


@pytest.mark.parametrize("name", TESTS)
def test_no_answer_makes_the_grader_fail(examined, name):
    verdicts = {tried(examined, name, seed)["verdict"] for seed in range(12)}
    assert verdicts & {"failed", "error"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TESTS)
def test_no_answer_of_very_many_makes_the_grader_fail(examined, name):
    for seed in range(100, 700):
        tried(examined, name, seed)


@pytest.mark.slow
def test_an_alarm_of_the_tests_waits_for_the_answer_and_costs_no_check_below(grader, tmp_path):
    exam = Exam(EXAMS["alarm"], grader, tmp_path)
    exam.prove()
    (right, wrong), (first, *_) = exam.variants, exam.tests
    assert lost(exam.grade(right.answers)) == {}
    (((cell, _), (_, reason)),) = lost(exam.grade(wrong.answers)).items()
    assert cell == first and "too slow" in reason and os.sep not in reason


def test_every_thread_of_the_tests_gets_its_own_answers(grader, tmp_path):
    Exam(EXAMS["threads"], grader, tmp_path).prove()


UNREADABLE = wire.Reference(3, {"of": "nobody"})


@pytest.mark.parametrize("news", [b"", NEWS + b"no news"])
def test_after_a_callback_that_cannot_be_read_the_next_answer_is_that_of_the_next_question(news):
    """A loss with a history could not be read, and each later check of the notebook got the answer before its own."""
    (hear, question), (answer, tell) = os.pipe(), os.pipe()
    asker = Asker(question, answer)
    callback = wire.encode({"callback": 0, "args": [1 if news else UNREADABLE], "kwargs": {}}, lambda value: value)

    def candidate() -> None:
        """Asks for a call with what nobody can read, and then answers each question with its number."""
        with os.fdopen(tell, "wb"):  # closed where it fails, so that the examiner does not wait
            pipe.read(hear)
            if news:
                pipe.write(tell, news)
            pipe.write(tell, callback)
            for number in range(2):
                assert ("raised" in wire.decode(pipe.read(hear), lambda reference: reference)) == (number == 0)
                pipe.write(tell, wire.encode({"value": number}))

    thread = threading.Thread(target=candidate, daemon=True)
    thread.start()
    with pytest.raises(CandidateLied, match="cannot be read"):
        asker.operate("call", len, path=path_of("f()"))
    asker.check = CheckState()
    assert asker.operate("call", len, path=path_of("g()")) == 1
    thread.join()
