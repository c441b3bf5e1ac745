"""Which layers of the sandbox are found to hold: on this machine, and on kernels that lack some system calls."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from tests.sandbox.test_confinement import full, start
from viva.sandbox import attempts, bubblewrap
from viva.sandbox.confinement import Sandbox
from viva.sandbox.protection import IN_BUBBLEWRAP, PROMISES, Layer, Protection, forget, protection

pytestmark = pytest.mark.xdist_group("sandbox")

LACK = """
import ctypes, json, struct, sys
from viva.sandbox import syscalls
from viva.sandbox.syscalls import ERRNO, JEQ, LOAD, NUMBERS, RETURN
def lack(*names):
    program = [(LOAD, 0, 0, 0)]
    for name in names:
        program += [(JEQ, 0, 1, NUMBERS[name]), (RETURN, 0, 0, ERRNO | 38)]
    program = b"".join(struct.pack("HBBI", *step) for step in [*program, (RETURN, 0, 0, 0x7FFF0000)])
    code = ctypes.create_string_buffer(program, len(program))
    syscalls.prctl(38, 1)
    syscalls.call("seccomp", 1, 0, struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
"""
LACKING = f"""
{LACK}
from viva.sandbox.protection import protection
lack(*sys.argv[1:])
found = protection()
print(json.dumps([found.level, {{layer.name: [layer.fault, layer.remedy] for layer in found.layers if layer.fault}}]))
"""
"""Lays a filter over itself, so that its children find a kernel without some calls, and asks what is left."""


def lacking(*names: str, path: str = "") -> tuple[str, dict[str, list[str]]]:
    told = start(LACKING, *names, path=path)
    assert told.returncode == 0, told.stderr
    level, faults = json.loads(told.stdout)
    faults.pop("user", None)
    return level, faults


@full
def test_every_needed_layer_works_on_a_kernel_that_has_them():
    assert {layer.name: layer.fault for layer in protection().layers if layer.needed and not layer.works} == {}
    assert protection().level != "none"


@full
def test_a_private_tmpfs_is_missing_only_where_the_kernel_refuses_one():
    (fault,) = [layer.fault for layer in protection().layers if layer.name == "namespaces"]
    assert not fault or any(word in fault for word in ("unshare: ", "mount: ", "/proc/self/"))


@full
@pytest.mark.usefixtures("processes")
def test_a_kernel_without_landlock_gives_no_protection_where_there_is_no_bubblewrap():
    level, faults = lacking("landlock_create_ruleset")
    assert level == "none" and {"landlock", "together", "bubblewrap"} == faults.keys() - {"namespaces"}
    assert "Function not implemented" in faults["landlock"][0] and "5.13" in faults["landlock"][1]
    assert faults["bubblewrap"] == ["the program bwrap is not installed", "sudo apt-get install bubblewrap"]


@full
@pytest.mark.usefixtures("processes")
def test_a_kernel_without_seccomp_gives_no_protection():
    level, faults = lacking("seccomp")
    assert level == "none" and {"seccomp", "together", "bubblewrap"} == faults.keys() - {"namespaces"}


@full
@pytest.mark.parametrize("name", ["unshare", "mount"])
@pytest.mark.usefixtures("processes")
def test_without_namespaces_the_sandbox_is_full_and_the_command_for_more_is_named(name):
    level, faults = lacking(name)
    assert level == "full" and faults.keys() == {"namespaces"}
    assert "sysctl" in faults["namespaces"][1]


@full
@pytest.mark.usefixtures("processes")
def test_a_probe_that_failed_once_is_made_again(monkeypatch):
    forget()
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/missing/python")
        assert protection().level == "none" and "it could not be tested" in protection().layers[0].fault
    assert protection().level != "none"
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/missing/python")
        assert protection().level != "none", "what held is kept for as long as nobody forgets it"
        forget()
        assert protection().level == "none"


def test_bubblewrap_shows_each_path_once_and_nobody_goes_on_outside_of_it(monkeypatch, tmp_path):
    words = bubblewrap.command([os.devnull, "/usr"], tmp_path)
    shown = [words[place + 1] for place, word in enumerate(words) if word in ("--ro-bind", "--dev-bind", "--bind")]
    assert shown == [*bubblewrap.DEVICES, sys.executable, "/usr", str(tmp_path)]
    monkeypatch.setattr("sys.executable", "/missing/python")
    assert "/missing/python" not in bubblewrap.command([], tmp_path)
    for scratch, message in ((None, "not a folder"), ("/tmp/a", "not a folder"), ("/viva/a", "did not start")):
        with pytest.raises(OSError, match=message):
            bubblewrap.require_inside(scratch)
    for place, there in ((tmp_path, True), (tmp_path / "none", False)):
        (tmp_path / "bwrap").touch(0o700)
        monkeypatch.setenv("PATH", str(place))
        assert bubblewrap.installed() == there


@full
@pytest.mark.usefixtures("processes")
def test_of_a_probe_that_fails_the_last_line_is_told_and_it_is_made_again(monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho first >&2\necho 'the last' >&2\nexit 3")
    program.chmod(0o700)
    forget()
    monkeypatch.setattr("sys.executable", str(program))
    assert protection().layers[0].fault == "it could not be tested: the last"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(dict.fromkeys(PROMISES, 'broken'))}'")
    monkeypatch.setenv("PATH", str(tmp_path))  # where no bubblewrap is
    assert protection().level == "none" and protection().layers[0].fault == "broken"
    monkeypatch.undo()
    assert protection().level != "none", "a machine changes"


@full
@pytest.mark.parametrize(
    ("begin", "fault"), [(None, ""), (lambda parent: None, "a process did not end with its parent")]
)
@pytest.mark.usefixtures("processes")
def test_a_process_that_outlives_its_parent_is_noticed_without_a_clock(monkeypatch, tmp_path, begin, fault):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("the probe waits"))
    if begin:
        monkeypatch.setattr(attempts, "begin_session", begin)
    assert attempts.fault_of(attempts.ATTEMPTS["session"], Sandbox(()), str(tmp_path)) == fault


@full
@pytest.mark.usefixtures("processes")
def test_the_layers_are_tried_in_a_fifth_of_a_second():
    forget()
    begin = time.perf_counter()
    assert protection().level != "none"
    took = time.perf_counter() - begin
    print(f"\nall layers are tried in {1e3 * took:.0f} ms")
    assert took < 2, "ten times what it should"


@pytest.mark.parametrize(
    ("broken", "level"),
    [
        ((), "full with private tmpfs"),
        (("user",), "full with private tmpfs"),
        (("namespaces",), "full"),
        (("bubblewrap",), "full with private tmpfs"),
        (("landlock", "together"), IN_BUBBLEWRAP),
        (("landlock", "together", "namespaces"), IN_BUBBLEWRAP),
        (("together",), IN_BUBBLEWRAP),
        (("landlock", "together", "bubblewrap"), "none"),
        (("together", "bubblewrap"), "none"),
        (("seccomp", "namespaces"), "none"),
        (("limits",), "none"),
    ],
)
def test_the_level_is_that_of_the_weakest_layer_that_is_needed(broken, level):
    layers = [Layer(name, "", "broken" * (name in broken)) for name in PROMISES]
    assert Protection(tuple(layers)).level == level
