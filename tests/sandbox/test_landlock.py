from __future__ import annotations

from pathlib import Path

from viva.sandbox.landlock import readable_by_default


def test_no_home_no_course_and_no_process_is_readable_by_default():
    readable = [Path(path) for path in readable_by_default()]
    for secret in ("/", "/root", "/home", "/tmp", "/etc", "/proc/self", Path.home(), Path.cwd(), __file__):
        assert not any(path in (Path(secret), *Path(secret).parents) for path in readable), secret
