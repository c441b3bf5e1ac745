"""Fork servers: clean, shared, and nothing is left of what they forked."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from viva.engine import libraries, pipe, wire
from viva.engine.parent import Parent, Role, _early, abandon, begin, prepare
from viva.engine.session import Session
from viva.sandbox.confinement import Sandbox
from viva.verdict import SandboxError

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def parents():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_TOKEN", "secret")
        roles = Role("candidate", Sandbox.for_candidate(), 80), Role("examiner", Sandbox.for_examiner(), 81)
        parents = begin(roles, ("numpy", "matplotlib.pyplot"))
    yield parents
    for parent in parents:
        parent.close()


class Child:
    """A candidate, and the pipes to it."""

    def __init__(self, parent: Parent, scratch: Path) -> None:
        theirs, self.question = os.pipe()
        self.answer, reply = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        self.out = [os.memfd_create(name) for name in ("out", "err")]
        self.pid = parent.fork([null, *self.out, theirs, reply], scratch)
        for descriptor in (theirs, reply, null):
            os.close(descriptor)
        self.ready = wire.decode(pipe.read(self.answer, timeout=30))

    def ask(self, **request: object) -> dict:
        pipe.write(self.question, wire.encode(request))
        return wire.decode(pipe.read(self.answer, timeout=30))

    def run(self, source: str) -> str:
        return "".join(item.get("text", str(item)) for item in self.ask(do="run", source=source)["outputs"])

    def close(self) -> None:
        for descriptor in (self.question, self.answer, *self.out):
            os.close(descriptor)


@contextlib.contextmanager
def child(parent: Parent, scratch: Path):
    child = Child(parent, scratch)
    try:
        yield child
    finally:
        parent.end(child.pid)
        child.close()


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def ended(pid: int) -> bool:
    """Whether a process runs no more; where nobody waits for orphans, a zombie stays of it."""
    return gone(pid) or "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()


def wait_until(condition) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end and not condition():
        time.sleep(0.02)
    return condition()


def test_a_child_says_that_it_is_sandboxed_in_and_serves(parents, tmp_path):
    with child(parents[0], tmp_path) as candidate:
        assert candidate.ready == {"ready": True}
        assert candidate.run("print(6 * 7)") == "42\n"
    assert gone(candidate.pid)


def test_a_child_knows_nothing_of_the_environment(parents, tmp_path):
    with child(parents[0], tmp_path) as candidate:
        seen = candidate.run("import os, sys\nprint(sorted(os.environ), sys.argv)")
    assert "TOKEN" not in seen and "PYTHONPATH" not in seen
    assert "'NBGRADER_EXECUTION'" in seen


def test_what_the_user_sets_for_all_takes_the_place_of_the_parents_own(tmp_path):
    (parent,) = begin([Role("candidate")], ("numpy",), {"MPLCONFIGDIR": "/fonts"})
    with contextlib.closing(parent), child(parent, tmp_path) as candidate:
        seen = candidate.run(
            "import os\nprint(os.environ['MPLCONFIGDIR'], os.environ['HOME'], os.environ['IPYTHONDIR'])"
        )
        assert seen == "/fonts {0} {0}\n".format(parent.folder / "home")


def test_a_child_runs_on_the_processors_of_whoever_asked_for_it(parents, tmp_path):
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(mine)})
        with child(parents[0], tmp_path) as candidate:
            assert os.sched_getaffinity(candidate.pid) == {max(mine)}
    finally:
        os.sched_setaffinity(0, mine)
    assert os.sched_getaffinity(parents[0].pid) == mine


def test_a_child_has_its_pipes_and_no_other_descriptor(parents, tmp_path):
    probe = "import os\nfound = []\nfor n in range(1024):\n    try:\n        os.fstat(n)\n        found.append(n)\n"
    probe += "    except OSError:\n        pass\nprint(found)"
    with child(parents[0], tmp_path) as candidate:
        assert candidate.run(probe) == "[0, 1, 2, 3, 4]\n"


def test_children_share_nothing_but_the_libraries(parents, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir(0o700), other.mkdir(0o700)
    neighbour = parents[0].channel(82)
    with child(parents[0], one) as first, child(neighbour, other) as second:
        first.run("import numpy as np\nnp.mine = 1\nx = 1\nnp.random.seed(1)\nopen('file', 'w').write('x')")
        assert second.run("import os, numpy\nprint('x' in globals(), hasattr(numpy, 'mine'), os.listdir())") == (
            "False False []\n"
        )
        assert "1" in first.run("x")
    neighbour.close()


def test_a_child_that_died_is_reaped_when_it_is_ended(parents, tmp_path):
    candidate = Child(parents[0], tmp_path)
    pipe.write(candidate.question, wire.encode({"do": "run", "source": "import os\nos._exit(7)"}))
    with pytest.raises(EOFError):
        pipe.read(candidate.answer, timeout=30)
    assert not gone(candidate.pid)  # a zombie: its number is not given to another process
    assert os.waitstatus_to_exitcode(parents[0].end(candidate.pid)) == 7
    assert gone(candidate.pid)
    candidate.close()


def test_ending_a_child_kills_it_whatever_it_does(parents, tmp_path):
    candidate = Child(parents[0], tmp_path)
    source = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    pipe.write(candidate.question, wire.encode({"do": "run", "source": source}))
    assert os.waitstatus_to_exitcode(parents[0].end(candidate.pid)) == -signal.SIGKILL
    assert gone(candidate.pid)
    candidate.close()


def test_what_was_forked_through_a_channel_ends_with_it(parents, tmp_path):
    channel = parents[0].channel(82)
    candidate = Child(channel, tmp_path)
    with child(parents[0], tmp_path) as other:
        channel.close()
        assert wait_until(lambda: gone(candidate.pid))
        assert other.run("1") != ""
    candidate.close()


@pytest.mark.slow
def test_a_child_ends_with_its_parent_also_without_a_sandbox(tmp_path):
    (parent,) = begin([Role("candidate")])
    candidate = Child(parent, tmp_path)
    os.kill(parent.pid, signal.SIGKILL)
    parent.process.wait()
    assert wait_until(lambda: ended(candidate.pid))
    candidate.close()
    with pytest.raises(SandboxError, match=re.escape("the grading process stopped (fork server of the candidates)")):
        parent.fork([0, 1, 2], tmp_path)
    parent.close()
    assert not parent.folder.exists()


@pytest.mark.parametrize("ended_first", [0, 1])
def test_parents_that_began_together_end_together_and_leave_nothing(ended_first):
    parents = begin([Role("candidate"), Role("examiner")], ("numpy",))
    pids = [parent.pid for parent in parents]
    assert len({parent.folder for parent in parents}) == 1 and not any(map(gone, pids))
    parents[ended_first].close()
    assert wait_until(lambda: all(map(ended, pids)))  # the kernel ends the second with the first
    parents[1 - ended_first].close()
    assert not parents[0].folder.exists()


def test_each_parent_draws_with_what_its_role_draws_with(parents, tmp_path):
    with child(parents[0], tmp_path) as candidate:
        assert candidate.run("import os, matplotlib\nprint(os.environ['MPLBACKEND'], matplotlib.get_backend())") == (
            "module://matplotlib_inline.backend_inline inline\n"
        )
    with Session(*parents) as session:
        source = "import os, matplotlib\nassert os.environ['MPLBACKEND'] == matplotlib.get_backend() == 'agg'\n"
        source += "from IPython import get_ipython\nassert get_ipython() is None"
        assert session.examiner(30, do="given", source=source, name="given") == {"error": ""}


def test_what_only_examiners_may_know_of_is_loaded_by_their_parent_alone(parents):
    parents[1].load(["scipy.special"])
    seen = "import sys\nprint('scipy' in sys.modules, 'scipy' in str(sys.orig_argv))"
    with Session(*parents) as session:
        assert session.candidate(30, do="run", source=seen)["outputs"][0]["text"] == "False False\n"
        source = "import sys\nassert 'scipy.special' in sys.modules"
        assert session.examiner(30, do="given", source=source, name="given") == {"error": ""}


@contextlib.contextmanager
def paired(loaded):
    """A session whose fork servers have these libraries."""
    with contextlib.ExitStack() as stack:
        parents = begin((Role("candidate"), Role("examiner")), loaded)
        for parent in parents:
            stack.callback(parent.close)
        yield stack.enter_context(Session(*parents))


BEFORE = "_before = set(__import__('sys').modules)"
NEW = "print(*sorted(set(__import__('sys').modules) - _before))"
USUAL_ANSWERS = (
    f"import numpy as np\n{BEFORE}",
    'def double(x):\n    """Twice."""\n    print(x)\n    return 2 * np.asarray(x)',
    "double([1.0, 2.0])",
    "undefined",
    "def broken(:",
)
USUAL_CHECKS = (
    f"import numpy as np\n{BEFORE}",
    "assert np.allclose(double(np.random.randn(3)), 0)",
    "assert double([1, 2]).tolist() == [2, 4] and double('a')",
)


@pytest.mark.parametrize("loaded", [(), ("numpy", "matplotlib.pyplot")])
def test_what_most_submissions_do_loads_no_module_that_their_warm_parents_do_not_have(loaded):
    """A module that NumPy, IPython or Viva put off would be loaded anew in each fork."""
    with paired(loaded) as session:
        for source in USUAL_ANSWERS:
            session.candidate(30, do="run", source=source)
        session.examiner(30, do="own", names=["double"])
        session.examiner(30, do="begin", cell="test", prelude="", visible=[], used=["double"])
        for source in (*USUAL_CHECKS, NEW):
            report = session.examiner(30, do="check", title="one", source=source)["report"]
        assert (report["verdict"], report["printed"]) == ("passed", "\n")
        assert session.candidate(30, do="run", source=NEW)["outputs"][0]["text"] == "\n"


@pytest.mark.parametrize(
    "source",
    ["import pandas as pd\npd.DataFrame({'a': [1.5]})", "import numpy as np\nnp.testing.assert_allclose(1, 1)"],
)
def test_nor_does_a_frame_that_is_shown_or_a_comparison_of_numpys(source):
    with paired(libraries.mentioned([source.encode()])) as session:
        for cell in (BEFORE, source):
            session.candidate(30, do="run", source=cell)
        assert session.candidate(30, do="run", source=NEW)["outputs"][0]["text"] == "\n"


ASKED = """
import sys, types

class Asked(types.ModuleType):
    times = 0

    @property
    def __file__(self):
        Asked.times += 1
        raise AttributeError

sys.modules["asked"] = Asked("asked")
"""


def test_a_traceback_asks_no_module_whether_a_cell_is_its_file():
    with paired(()) as session:
        for source in (ASKED, "def f(x):\n    return 1 / x", "f(0)", "f('a')"):
            outputs = session.candidate(30, do="run", source=source)["outputs"]
        assert "return 1 / x" in str(outputs[0]["traceback"])
        assert session.candidate(30, do="run", source="print(Asked.times)")["outputs"][0]["text"] == "0\n"


def test_what_was_prepared_becomes_the_next_parents_and_no_others():
    prepare()
    with contextlib.ExitStack() as stack:
        first, *others = (begin([Role("candidate")], ("numpy",)) for _ in range(2))
        for (parent,) in (first, *others):
            stack.callback(parent.close)
        assert len({parent.pid for (parent,) in (first, *others)}) == 2


def test_what_is_likely_to_be_wanted_is_loaded_before_anybody_asks():
    prepare(["numpy.polynomial", "matplotlib.pyplot"])
    maps = Path(f"/proc/{_early[0].process.pid}/maps")
    try:
        assert wait_until(lambda: "ft2font" in maps.read_text())
    finally:
        abandon()


def test_what_was_prepared_with_a_library_that_nobody_wants_gives_way_to_another():
    prepare(["bs4"])
    (unwanted,) = _early
    (made,) = begin([Role("candidate")], ("numpy",))
    try:
        assert made.process is not unwanted.process and unwanted.process.returncode is not None
        assert not unwanted.folder.exists()
        with child(made, made.scratch()) as candidate:
            assert candidate.run("import sys\nprint('bs4' in sys.modules)") == "False\n"
    finally:
        made.close()


PREPARING = "from viva.engine import parent\nparent.prepare()\nprint(parent._early[0].process.pid)\n"


@pytest.mark.parametrize("end", ["", "import os\nos.fork() or parent.begin([parent.Role('candidate')])\n"])
def test_what_was_prepared_and_not_needed_ends_with_its_maker_whose_forks_leave_it_alone(end):
    made = subprocess.run([sys.executable, "-c", PREPARING + end], capture_output=True, text=True, check=True)
    assert wait_until(lambda: ended(int(made.stdout.split()[0]))) and made.stderr == ""


def test_a_command_that_grades_nothing_leaves_nothing_of_what_was_prepared(tmp_path):
    env = os.environ | {"PYTHONWARNINGS": "error::ResourceWarning"}
    command = [sys.executable, "-m", "viva", "grade"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"This folder is not a course: {tmp_path}/source does not exist.")
    assert len(done.stderr.splitlines()) == 1


def test_a_parent_does_not_mind_ctrl_c(parents, tmp_path):
    os.kill(parents[0].pid, signal.SIGINT)
    with child(parents[0], tmp_path) as candidate:
        assert candidate.run("print(1)") == "1\n"


def test_a_parent_has_one_thread(parents):
    for parent in parents:
        assert len(list(Path(f"/proc/{parent.pid}/task").iterdir())) == 1


def test_a_sandbox_that_cannot_be_raised_is_said_and_nothing_serves(parents, tmp_path):
    candidate = Child(parents[0], tmp_path / "is not there")
    assert set(candidate.ready) == {"fault"}
    parents[0].end(candidate.pid)
    candidate.close()


def test_test_code_is_never_taught_to_the_candidates(parents):
    with pytest.raises(AssertionError):
        parents[0].learn("x = 1", "title")
    parents[1].learn("x = 1", "title")
    parents[1].learn("x = = 1", "not Python")
    parents[1].learn("%%bash\n", "an unknown magic")


def test_many_forks_leave_no_process_and_no_descriptor(parents, tmp_path):
    def state():
        pid = parents[0].pid
        return (
            len(os.listdir(f"/proc/{pid}/fd")),
            Path(f"/proc/{pid}/task/{pid}/children").read_text(),
            len(os.listdir("/proc/self/fd")),
        )

    with child(parents[0], tmp_path):
        pass
    before = state()
    for _ in range(20):
        with child(parents[0], tmp_path):
            pass
    assert state() == before
