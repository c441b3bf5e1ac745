"""A right answer that asks the sandbox for what it refuses loses no point without that a human is told why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.test_selfcheck import check, write
from tests.oral import Exam, read_exams
from viva import wording
from viva.engine.grading import Grader
from viva.record import doubtful
from viva.verdict import Verdict

EXAMS = read_exams(Path(__file__).with_name("refusals.txt"))

pytestmark = pytest.mark.xdist_group("refusals")

OTHERS = {
    "a pool": "from multiprocessing import Pool\ndef twice(n): return 2 * n\n"
    "def double(numbers):\n    with Pool(2) as pool:\n        return pool.map(twice, numbers)",
    "an executor": "from concurrent.futures import ProcessPoolExecutor\ndef twice(n): return 2 * n\n"
    "def double(numbers):\n    with ProcessPoolExecutor(2) as pool:\n        return list(pool.map(twice, numbers))",
    "a program": "import json, subprocess, sys\ndef double(numbers):\n"
    "    program = f'print([2 * n for n in {numbers}])'\n"
    "    return json.loads(subprocess.check_output([sys.executable, '-c', program]))",
    "shared memory": "from multiprocessing.shared_memory import ShareableList\n"
    "def double(numbers):\n    shared = ShareableList(numbers)\n    found = [2 * n for n in shared]\n"
    "    shared.shm.close()\n    shared.shm.unlink()\n    return found",
    "a cell of its own": "import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\n"
    "def double(numbers): return [2 * number for number in numbers]",
}


@pytest.fixture(scope="module")
def exam(grader: Grader, tmp_path_factory) -> Exam:
    return Exam(EXAMS["text"], grader, tmp_path_factory.mktemp("exam"))


@pytest.mark.parametrize("name", OTHERS)
def test_an_answer_that_starts_another_process_is_doubted(exam, name):
    outcome = exam.grade(OTHERS[name])
    (doubt,) = outcome.doubts
    assert (doubt.kind, doubt.tests, doubtful([doubt])) == ("refused_process", ("test-1",), ("test-1",))
    assert "the code starts another process or shares memory with one, which the" in wording.sentence(doubt)
    if name != "a cell of its own":
        assert "the sandbox allows no other processes, and no memory shared with them" in wording.reason(
            outcome.checks["test-1"][0]
        )
    assert outcome.earned("test-3") == 1


def test_an_answer_that_uses_the_network_is_doubted(exam):
    answer = "import urllib.request\ndef double(numbers):\n    urllib.request.urlopen('http://example.org/numbers')"
    outcome = exam.grade(answer)
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_network", ("test-1",))]
    assert "the sandbox has no network" in wording.reason(outcome.checks["test-1"][0])


COMMANDS = {
    "a line": ("!ls", "names = !ls\ndef double(numbers): return numbers * len(names)"),
    "in a function": ("!ls", "def double(numbers):\n    names = !ls\n    return numbers * len(names)"),
    "by name": ("!wc", "text = get_ipython().getoutput('wc -l a')\ndef double(numbers): return numbers * len(text)"),
    "a magic": ("%sx", "names = %sx ls\nmine = len(names)\ndef double(numbers): return numbers * mine"),
    "a cell": ("%%bash", "%%bash --out double\necho 4"),
    "captured": ("!wc", "%%capture double\n! wc -l a.txt"),
    "by way of a file": ("!echo", "!echo 2 > two\ntwo = int(open('two').read())\ndef double(numbers): return [2, 4]"),
    "os.system": (
        "os.system",
        "import os\nos.system('echo 2 > two')\nfactor = int(open('two').read())\n"
        "def double(numbers): return [factor * number for number in numbers]",
    ),
    "another name of it": (
        "os.system",
        "from os import system as run\nok = run('true') == 0\n"
        "def double(numbers): return [2 * number for number in numbers if ok]",
    ),
    "the shell by a name": (
        "!ls",
        "from IPython import get_ipython\nip = get_ipython()\nnames = ip.getoutput('ls *.txt')\n"
        "def double(numbers): return numbers * len(names)",
    ),
    "a refusal that is caught": (
        "subprocess.check_output",
        "import subprocess\ntry:\n    factor = int(subprocess.check_output(['echo', '2']))\n"
        "except Exception:\n    factor = 1\ndef double(numbers): return [factor * number for number in numbers]",
    ),
    "one that is caught in a function": (
        "os.popen",
        "from os import popen\ndef double(numbers):\n    try:\n        return [int(popen('echo 2').read())]\n"
        "    except OSError:\n        return []",
    ),
    "with more than an install": ("!pip", "out = !pip install x && ls\ndef double(numbers): return numbers * len(out)"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_that_follows_from_a_command_for_the_shell_is_doubted_and_the_reason_names_it(exam, name):
    command, answer = COMMANDS[name]
    outcome = exam.grade(answer)
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_process", ("test-1",))]
    assert f"commands such as {command} are not run in grading" in wording.reason(outcome.checks["test-1"][0])
    assert (outcome.earned("test-1"), outcome.earned("test-3")) == (0, 1)


INSTALLS = (
    *("!pip install x", "%pip install -q x", "!conda install -y x", "!apt-get -qq install x"),
    *("import sys\n!{sys.executable} -m pip install x", "import os\nos.system('pip install x')"),
    *("!ls", "!python --version"),
)


@pytest.mark.parametrize("line", INSTALLS)
def test_a_line_that_only_installs_or_shows_something_costs_no_point_and_explains_none(exam, line):
    assert exam.grade(f"{line}\ndef double(numbers): return [2 * n for n in numbers]").earned("test-1") == 1
    outcome = exam.grade(f"{line}\ndef double(numbers): return numbers\nopen('a', 'w').close()")
    assert (outcome.earned("test-1"), outcome.doubts) == (0, [])


def test_what_an_exercise_above_took_from_a_command_is_followed_to_the_one_that_uses_it(grader, tmp_path):
    text = "--- answer\nnames = ['a']\n--- test\nassert names\n--- answer\ncount = 1\n--- test\nassert count == 1\n"
    exam = Exam(text, grader, tmp_path)
    outcome = exam.grade({"answer-0": "names = !ls", "answer-2": "count = len(names)"})
    assert [one.tests for one in outcome.doubts] == [("test-1", "test-3")]
    again = exam.grade({"answer-0": "names = !ls\nnames = []", "answer-2": "count = len(names)"})
    assert [one.tests for one in again.doubts] == [("test-1",)], "the command stands in that answer alone"


ANYWHERE = {
    "its name is not the one that is asked for": ("names = !ls *.txt", "!ls"),
    "printed": ("names = !ls *.txt\nprint(len(names))", "!ls"),
    "by a call": ("found = get_ipython().getoutput('ls *.txt')\nprint(found)", "!ls"),
    "another program's work": ("!./solve.sh\ncount = 0", "!./solve.sh"),
    "in a function that nobody calls": ("def found():\n    names = !ls\n    return names\ncount = 0", "!ls"),
    "beside a look around": ("!ls\n!wc -l a.txt\ncount = 0", ""),
    "beside an install": ("!pip install x\ncount = 0", ""),
}


@pytest.mark.parametrize("case", ANYWHERE)
def test_a_command_anywhere_in_an_answer_that_lost_points_asks_a_grader(case, grader, tmp_path):
    answer, command = ANYWHERE[case]
    outcome = Exam(EXAMS["count"], grader, tmp_path).grade({"answer-0": answer, "answer-2": "done = False"})
    assert (outcome.earned("test-1"), outcome.earned("test-3")) == (0, 0)
    assert [one.tests for one in outcome.doubts] == ([("test-1",)] if command else []), "the other has no command"
    assert not command or f"commands such as {command} are" in wording.reason(outcome.checks["test-1"][0])


def test_a_cell_that_stopped_stays_the_reason_beside_a_command_and_a_grader_is_asked(grader, tmp_path):
    stopped = "count = []\nfor one in 'ab':\n    count.append(one)\n    count.nothing"
    answers = {"answer-0": stopped, "answer-2": "!./solve.sh\ndone = len(count) > 1"}
    outcome = Exam(EXAMS["count"], grader, tmp_path).grade(answers)
    (result,) = outcome.checks["test-3"]
    assert [one.tests for one in outcome.doubts] == [("test-3",)]
    assert result.lost is not None and (result.lost.kind, result.lost.cells) == ("cell_stopped", ("answer-0",))
    assert result.cause is None


@pytest.mark.parametrize(
    ("line", "command"),
    [("! wc -l table.csv", "!wc"), ("!pip install x\n!wc -l table.csv", "!wc"), ("!pip install x", "")],
)
def test_an_answer_that_is_nothing_but_a_command_is_doubted_where_its_test_is_lost(line, command, grader, tmp_path):
    exam = Exam(EXAMS["bare"], grader, tmp_path)
    outcome = exam.grade({"answer-0": line, "answer-2": "done = False"})
    assert (outcome.earned("test-1"), outcome.earned("test-3")) == (0, 0)
    assert [one.tests for one in outcome.doubts] == ([("test-1",)] if command else [])
    assert not command or f"commands such as {command} are" in wording.reason(outcome.checks["test-1"][0])


@pytest.mark.parametrize(
    "answer",
    [
        "def double(numbers): return numbers",
        "def system(n): return n\nwas = system('ls')\ndef double(numbers): return was",
        "def double(numbers): raise PermissionError('no')",
        "def double(numbers): open('/etc/shadow').read()",
        "import platform, os\nplatform.processor()\ndef double(numbers): return os.cpu_count()",
        "import subprocess\ntry:\n    subprocess.run(['ls'])\nexcept OSError: pass\ndef double(numbers): return 0",
    ],
)
def test_what_is_wrong_for_another_reason_is_not(exam, answer):
    outcome = exam.grade(answer)
    assert outcome.earned("test-1") == 0 and outcome.doubts == []


FORGED = {
    "the refusal of a process": "def double(numbers): raise OSError(1, 'Operation not permitted')",
    "its words in another exception": "def double(numbers): raise ValueError('[Errno 1] Operation not permitted')",
    "a class of its own": "class Mine(Exception):\n    def __str__(self): return '[Errno 13] Permission denied'\n"
    "def double(numbers): raise Mine",
    "the refusal of the network": "def double(numbers): raise RuntimeError('<urlopen error refused>')",
    "what cannot pass": "def double(numbers): raise RuntimeError('it cannot pass between processes')",
    "a cell that stops for it": "raise RuntimeError('it cannot pass between processes')\ndef double(numbers): return 0",
    "a cell that stops": "raise OSError(1, 'Operation not permitted')\ndef double(numbers): return 0",
}


@pytest.mark.parametrize("forged", FORGED)
def test_who_raises_the_words_of_a_refusal_gets_a_human_and_no_point(exam, forged):
    outcome = exam.grade(FORGED[forged])
    (result,) = outcome.checks["test-1"]
    assert (result.verdict, result.earned, outcome.earned("test-1")) == (Verdict.ERROR, 0, 0)
    assert [doubtful([doubt]) for doubt in outcome.doubts] == [("test-1",)], "no other cell waits"
    assert outcome.earned("test-3") == 1 and not outcome.faults


def test_the_words_of_a_refusal_change_no_other_verdict(exam):
    asserts = "def double(numbers): raise AssertionError('[Errno 1] Operation not permitted')"
    hangs = "import os\ndef double(numbers):\n    try:\n        raise OSError(1, 'Operation not permitted')\n"
    hangs += "    except OSError:\n        os._exit(1)"
    for answer, verdict in ((asserts, Verdict.FAILED), (hangs, Verdict.KILLED)):
        outcome = exam.grade(answer)
        assert outcome.checks["test-1"][0].verdict is verdict
        assert outcome.earned("test-1") == 0 and outcome.doubts == []


def test_that_a_process_was_to_be_started_is_a_fact(exam):
    told = [wording.sentence(fact) for fact in exam.grade(OTHERS["a program"]).integrity]
    (one,) = [sentence for sentence in told if sentence.startswith("tried to start another process: subprocess.Popen")]
    assert one.endswith("(the sandbox stopped it)")  # Python 3.13 does it by os.posix_spawn, and tells of both
    assert not [fact for fact in exam.grade(OTHERS["shared memory"]).integrity if fact.kind == "processes"]


@pytest.mark.parametrize("name", ["a pool", "a program"])
def test_viva_check_says_before_that_grading_will_refuse_it(exam, tmp_path, name):
    own = Grader(libraries=("numpy",))
    try:
        path = write(exam.answered(OTHERS[name]), tmp_path)
        copy, tried = check(path, own)
    finally:
        own.close()
    assert [one.state for one in tried] == ["passed", "passed"]
    assert any("it starts another process" in remark and "not in grading" in remark for remark in copy.remarks)


def test_a_right_answer_that_hands_a_tests_function_an_object_of_its_own_class_is_doubted(grader, tmp_path):
    """Automatic differentiation by dual numbers, where the solution takes a small step: it lost the point for good."""
    exam = Exam(EXAMS["derivative"], grader, tmp_path)
    exam.prove()
    outcome = exam.grade(EXAMS["dual"])
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_crossing", ("test-1",))]
    reason = wording.reason(outcome.checks["test-1"][0])
    assert "an object of class Dual (grading runs the tests in another process)" in reason
    assert outcome.earned("test-1") == 0


@pytest.mark.parametrize("state", ["exact", "object"])
def test_a_right_answer_of_which_a_test_gives_back_a_copy_that_cannot_be_made_or_sent_is_doubted(
    grader, tmp_path, state
):
    """A state of Fractions, or in a dataclass, which a test copies first: it lost the point, and nobody was asked."""
    exam = Exam(EXAMS["state"], grader, tmp_path)
    outcome = exam.grade(EXAMS[state])
    assert outcome.earned("test-1") == 0
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_crossing", ("test-1",))]
