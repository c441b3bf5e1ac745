"""No two graders on a machine have the same slot."""

from __future__ import annotations

import subprocess
import sys

from viva.sandbox.confinement import Claims


def test_two_graders_never_have_the_same_slot():
    one, other = Claims(), Claims()
    pairs = [one.pair(0), one.pair(1), other.pair(0), other.pair(1)]
    assert len(set(pairs)) == 4 and all(slot % 2 == 0 for slot in pairs)
    assert one.pair(0) == pairs[0]
    one.close()
    other.close()


def test_a_slot_is_free_again_when_its_grader_has_ended_however_it_ended():
    program = "import os, signal\nfrom viva.sandbox.confinement import Claims\nprint(Claims().pair(0), flush=True)\n"
    slot = int(subprocess.check_output([sys.executable, "-c", program + "os._exit(0)"]))
    claims, taken = Claims(), []
    while slot not in taken and len(taken) < 100:
        taken.append(claims.pair(len(taken)))
    claims.close()
    assert slot in taken
