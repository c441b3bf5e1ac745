"""What a grader asks of the machine before anything is run."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("processes")

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
from viva.course.graders import require_files
from viva.verdict import CourseError
try:
    require_files()
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
except CourseError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("allowed", "highest", "told"),
    [
        (64, 64, "can open only 64 files ('ulimit -n')"),
        (64, 2000, "1024"),
        (200, 200, "200"),
        (1500, 2000, "1500"),
    ],
)
def test_too_few_open_files_are_named_and_more_are_taken_where_they_may_be(allowed, highest, told):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2000:
        pytest.skip("this machine allows fewer open files")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(allowed), str(highest)], capture_output=True, text=True, check=True
    )
    assert told in done.stdout and (len(told) < 5 or "Run 'ulimit -n 1024'" in done.stdout)
