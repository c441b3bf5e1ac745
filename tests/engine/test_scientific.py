"""What scientific packages ask of the process that they run in: answers that use them are graded like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_exams
from viva.engine.grading import Grader
from viva.sandbox.confinement import Sandbox
from viva.sandbox.protection import protection

EXAMS = read_exams(Path(__file__).with_name("scientific.txt"))

pytestmark = [pytest.mark.xdist_group("scientific"), pytest.mark.usefixtures("processes")]

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
    exam = Exam(EXAMS["learning"], around, tmp_path)
    assert exam.examination.refused == {}
    assert lost(exam.grade()) == {}
    for variant in exam.variants:
        assert len(lost(exam.grade(variant.answers))) == 1


@pytest.mark.slow
def test_thread_pools_locks_and_shared_values_work_where_namespaces_do(around, tmp_path):
    if not around.sandboxes[0].private_tmp:
        pytest.skip("their files lie in a folder that all processes of the machine share")
    exam = Exam(EXAMS["shared"], around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))


def test_a_process_knows_its_user_and_its_processors(around, tmp_path):
    """PyTorch asks for a cache folder by user, and each optimizer failed for want of one."""
    if not around.sandboxes[0].private_tmp:
        pytest.skip("only a root folder of its own has a list of users")
    exam = Exam(EXAMS["asked"], around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))


def test_a_library_can_keep_a_cache_at_home(around, tmp_path):
    exam = Exam(EXAMS["kept"], around, tmp_path)
    assert lost(exam.grade()) == {} and lost(exam.grade(exam.variants[0].answers))
