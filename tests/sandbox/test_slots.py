"""No two graders on a machine have the same slot."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import pytest

from viva.sandbox import confinement
from viva.sandbox.confinement import SLOTS, Claims

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives user ids, and slots with them")


@root
def test_two_graders_never_have_the_same_slot():
    one, other = Claims(), Claims()
    pairs = [one.pair(0), one.pair(1), other.pair(0), other.pair(1)]
    assert len(set(pairs)) == 4 and all(slot % 2 == 0 for slot in pairs)
    assert one.pair(0) == pairs[0]
    one.close()
    other.close()


@root
@pytest.mark.usefixtures("processes")
def test_another_user_can_take_no_slots(tmp_path, monkeypatch):
    program = f"""
import os, socket, sys
os.setgid({pwd.getpwnam("nobody").pw_gid}); os.setuid({pwd.getpwnam("nobody").pw_uid})
held = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range({SLOTS})]
taken = 0
for slot, one in enumerate(held):
    try:
        one.bind(f"\\0viva slot {{slot}}")
    except OSError:  # a grader of an older version has it
        pass
for slot in range(0, {SLOTS}, 2):
    try:
        os.open("{confinement._folder_of_claims()}/" + str(slot), os.O_RDONLY)
        taken += 1
    except OSError:
        pass
print(taken, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "0\n"
        claims = Claims()
        assert 0 <= claims.pair(0) < SLOTS
        claims.close()
        other.communicate("")


@root
def test_a_folder_that_another_user_made_for_claims_is_not_used(tmp_path, monkeypatch):
    places = [tmp_path / name for name in ("missing", "theirs", "open", "own")]
    monkeypatch.setattr(confinement, "PLACES", tuple(map(str, places)))
    for place in places[1:]:
        (place / "viva-slots").mkdir(parents=True, mode=0o755)
    os.chown(places[1] / "viva-slots", pwd.getpwnam("nobody").pw_uid, -1)
    (places[2] / "viva-slots").chmod(0o777)
    assert confinement._folder_of_claims() == str(places[3] / "viva-slots")


@root
@pytest.mark.usefixtures("processes")
def test_a_slot_is_free_again_when_its_grader_has_ended_however_it_ended():
    program = "import os, signal\nfrom viva.sandbox.confinement import Claims\nprint(Claims().pair(0), flush=True)\n"
    slot = int(subprocess.check_output([sys.executable, "-c", program + "os._exit(0)"]))
    claims, taken = Claims(), []
    while slot not in taken and len(taken) < 100:
        taken.append(claims.pair(len(taken)))
    claims.close()
    assert slot in taken
