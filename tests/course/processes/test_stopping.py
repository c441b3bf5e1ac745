"""Ctrl-C stops a command with one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("processes")

PROGRAM = """
import os, signal, sys
from viva.course.processes import stopping

def again():
    os.kill(os.getpid(), signal.SIGINT)

stopping.at_once()
if "early" in sys.argv:
    again()
try:
    with stopping.orderly():
        again()
except KeyboardInterrupt as stopped:
    sentence, status = stopping.sentence(stopped)
    print(sentence)
again()
sys.exit(status)
"""


def stopped(*words: str) -> tuple[str, str, int]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def test_another_ctrl_c_after_the_sentence_adds_none():
    said = "Stopped. All finished work is kept. To continue, run the same command again.\n"
    assert stopped() == (said, "", 130)


def test_while_the_program_is_loaded_it_ends_at_once():
    assert stopped("early") == ("", "Stopped; run the same command again to continue.\n", 130)
