from __future__ import annotations

import shutil

import pexpect
import pytest

from tests.conftest import SHORT, lacking

SETUP = {
    "bash": (["--norc", "--noprofile", "-i"], "viva() { echo \"ran:$*:\"; }"),
    "zsh": (["-f", "-i"], "viva() { echo \"ran:$*:\"; }"),
    "fish": (["--no-config", "-i"], 'function viva; echo "ran:$argv:"; end'),
}  # fmt: skip
"""How each shell is started without anybody's settings, and a `viva` that says what it was called with."""


@pytest.fixture(params=SETUP)
def terminal(request, course, viva, monkeypatch):
    """A real shell in the course, which has read the script."""
    if shutil.which(request.param) is None:
        lacking(f"There is no {request.param} to complete in. Install it: sudo apt-get install {request.param}")
    monkeypatch.setenv("TERM", "dumb")
    script = course / "completion"
    (course / "canvas.csv").touch()
    script.write_text(viva("completion", request.param).out)
    arguments, program = SETUP[request.param]
    shell = pexpect.spawn(request.param, arguments, cwd=str(course), encoding="utf-8", timeout=60, echo=False)
    shell.sendline(f"{program}\n. ./completion; viva is ready")
    shell.expect("ran:is ready:")
    yield shell
    shell.close(force=True)


@pytest.mark.slow
def test_the_shell_completes_commands_options_assignments_and_notebooks(terminal):
    for typed, completed in {
        "relea": "release",
        "grade ps3": f"grade {SHORT}",
        "grade --fo": "grade --force",
        "export --to\tx.csv": "export --to=x.csv",
        "completion fi": "completion fish",
        "roster can": "roster canvas.csv",
        "roster --dr": "roster --dry-run",
        "check rel\tps3\tsca": f"check release/{SHORT}/scaled_attention.ipynb",
    }.items():
        terminal.send(f"viva {typed}\t\n")
        terminal.expect("ran:(.*?) ?:")
        assert terminal.match[1].replace("--to x", "--to=x") == completed  # fish puts a value behind a space


def test_a_shell_that_is_not_known_is_refused_in_a_sentence(viva):
    for arguments in ([], ["tcsh"], ["bash", "zsh"]):
        result = viva("completion", *arguments)
        assert (result.status, result.out) == (2, "")
        assert "Name your shell" in result.err
