"""What a grader asks of the machine before anything is run."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("processes")

FILES = {(1500, 2000): "1500", (64, 2000): "1024", (200, 200): "200", (64, 64): "can open only 64 files ('ulimit -n')"}
"""Limits, soft and hard: how many are taken, or what is said. Who is not root can only lower them."""
PROGRAM = f"""
import resource
from viva.course.examining.graders import require_files
from viva.verdict import CourseError
for limits in {list(FILES)}:
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    try:
        require_files()
        print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    except CourseError as error:
        print(error)
"""


def test_too_few_open_files_are_named_and_more_are_taken_where_they_may_be():
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2000:
        pytest.skip("this machine allows fewer open files")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert all(told in line for told, line in zip(FILES.values(), lines, strict=True)), lines
    assert "Run 'ulimit -n 1024'" in lines[-1]
