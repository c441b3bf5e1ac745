"""What scientific packages ask of the process that they run in: answers that use them are graded like any other."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost
from viva.engine.grading import Grader
from viva.sandbox.confinement import Sandbox
from viva.sandbox.protection import protection

pytestmark = [pytest.mark.xdist_group("scientific"), pytest.mark.usefixtures("processes")]

LEARNING = """
--- given
import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
points = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0]] * 5)
kinds = np.array([0, 0, 1, 1] * 5)
--- answer
def groups(points):
    return KMeans(2, n_init=1, random_state=0).fit_predict(points)
--- test
found = groups(points)
assert found[0] == found[1] != found[2]
--- wrong
def groups(points):
    return np.zeros(len(points), dtype=int)
--- answer
def best(points, kinds):
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2, n_jobs=-1)
    return search.fit(points, kinds).best_score_
--- test
assert best(points, kinds) == 1
--- wrong
def best(points, kinds):
    return 0.5
"""
SHARED = """
--- answer
import ctypes, multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

def counted(numbers):
    count, lock = multiprocessing.Value(ctypes.c_int, 0), multiprocessing.Lock()
    def add(number):
        with lock:
            count.value += number
    with ThreadPool(2) as pool:
        pool.map(add, numbers)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, numbers))
    return count.value
--- test
assert counted([1, 2, 3]) == 12
--- wrong
def counted(numbers):
    return 6
"""
KEPT = """
--- answer
from pathlib import Path

def kept(text):
    folder = Path.home() / ".cache" / "course"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kept.txt").write_text(text)
    return (folder / "kept.txt").read_text()
--- test
assert kept("seven") == "seven"
--- wrong
def kept(text):
    return ""
"""
ASKED = """
--- answer
import getpass, os, pwd

def asked():
    known = pwd.getpwuid(os.getuid()).pw_name if os.access("/etc/passwd", os.R_OK) else "student"
    with open("/proc/cpuinfo") as processors, open("/sys/devices/system/cpu/possible") as numbers:
        found = bool(processors.read() and numbers.read())
    with open("/proc/self/cmdline") as words:  # as TensorFlow does, where the next one is a Python
        found = found and "python" in words.read() and "python" in os.readlink("/proc/self/exe")
    return [getpass.getuser(), known, os.environ["LOGNAME"], found]
--- test
assert asked() == ["student", "student", "student", True]
--- wrong
def asked():
    return []
"""
LIBRARIES = ("numpy", "sklearn.cluster", "sklearn.ensemble", "sklearn.model_selection", "sklearn.neighbors")


@pytest.fixture(
    scope="module", params=["the whole sandbox", pytest.param("without namespaces", marks=pytest.mark.slow)]
)
def around(request):
    if not protection().works("namespaces") and request.param == "the whole sandbox":
        pytest.skip("this machine has no namespaces")
    known = {} if request.param == "the whole sandbox" else {"private_tmp": False}
    grader = Grader(60.0, (Sandbox.for_candidate(**known), Sandbox.for_examiner(**known)), LIBRARIES)
    yield grader
    grader.close()


@pytest.mark.slow
def test_what_scikit_learn_finds_in_its_process_it_finds_in_a_fork_too(around, tmp_path):
    """threadpoolctl looks for /proc when it is imported, in the parent, and opens its file about itself in the fork."""
    exam = Exam(LEARNING, around, tmp_path)
    assert exam.examination.refused == {}
    assert lost(exam.grade()) == {}
    for variant in exam.variants:
        assert len(lost(exam.grade(variant.answers))) == 1


@pytest.mark.slow
def test_thread_pools_locks_and_shared_values_work_where_namespaces_do(around, tmp_path):
    if not around.sandboxes[0].private_tmp:
        pytest.skip("their files lie in a folder that all processes of the machine share")
    exam = Exam(SHARED, around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))


def test_a_process_knows_its_user_and_its_processors(around, tmp_path):
    """PyTorch asks for a cache folder by user, and each optimizer failed for want of one."""
    if not around.sandboxes[0].private_tmp:
        pytest.skip("only a root folder of its own has a list of users")
    exam = Exam(ASKED, around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))


def test_a_library_can_keep_a_cache_at_home(around, tmp_path):
    exam = Exam(KEPT, around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))
