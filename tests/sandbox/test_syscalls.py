"""The tables against the kernel's own headers, and the filter against what the tables say, for both machines."""

from __future__ import annotations

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from viva.sandbox.syscalls import (
    ABSENT,
    ALLOW,
    AND,
    AUDIT_ARCH,
    DENIED,
    ERRNO,
    HIGHEST,
    JEQ,
    JGT,
    JSET,
    JUDGED,
    KILL,
    LOAD,
    MACHINES,
    OWN_PID,
    PRETENDED,
    RETURN,
    assemble,
    call,
)

HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}
EPERM, ENOSYS, DONE = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS, ERRNO


def names(machine: str) -> dict[str, int]:
    return {name: number for table in (DENIED, ABSENT, PRETENDED, JUDGED) for name, number in table[machine].items()}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernel(machine):
    header = next(filter(Path.exists, map(Path, HEADERS[machine])), None)
    if header is None:
        pytest.skip(f"no header with the numbers of {machine} is on this machine; Debian has it in linux-libc-dev")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE)
    kernel = {name: int(number) for name, number in found}
    ours = {name: number for name, number in names(machine).items() if number <= max(kernel.values())}
    assert len(ours) > 100
    assert {name: (number, kernel.get(name)) for name, number in ours.items() if kernel.get(name) != number} == {}


def test_what_one_machine_lacks_is_only_what_aarch64_never_had():
    old = {"fork", "vfork", "inotify_init", "modify_ldt", "iopl", "ioperm", "open"}
    old |= {"chmod", "chown", "lchown", "utime", "utimes", "futimesat"}
    assert names("x86_64").keys() - names("aarch64").keys() == old
    assert names("aarch64").keys() <= names("x86_64").keys()


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_is_in_two_tables(machine):
    assert len(names(machine)) == sum(len(table[machine]) for table in (DENIED, ABSENT, PRETENDED, JUDGED))
    assert len(set(names(machine).values())) == len(names(machine))


# The filter, run by a small interpreter of the kernel's instructions


def answer(machine: str, number: int, *arguments: int, guard: bool = False, arch: int | None = None) -> int:
    """What the filter says to a call, as the kernel would hear it."""
    arguments = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("iIQ6Q", number, AUDIT_ARCH[machine] if arch is None else arch, 0, *arguments)
    program = list(struct.iter_unpack("HBBI", assemble(guard, machine)))
    held, place = 0, 0
    while True:
        code, then, otherwise, constant = program[place]
        place += 1
        match code:
            case _ if code == LOAD:
                (held,) = struct.unpack_from("I", data, constant)
            case _ if code == AND:
                held &= constant
            case _ if code == RETURN:
                return constant
            case _:
                holds = {JEQ: held == constant, JGT: held > constant, JSET: bool(held & constant)}[code]
                place += then if holds else otherwise


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_answers_as_the_tables_say(machine):
    for table, wanted in ((DENIED, EPERM), (ABSENT, ENOSYS), (PRETENDED, DONE)):
        assert {name: answer(machine, number) for name, number in table[machine].items()} == dict.fromkeys(
            table[machine], wanted
        )
    assert answer(machine, 63) == ALLOW
    assert answer(machine, HIGHEST + 1) == answer(machine, 0x40000000 + 39) == ENOSYS
    assert answer(machine, 63, arch=0x40000003) == KILL


SIGCHLD, THREAD, NEW_USER = 17, 0x10000 | 0x100, 0x10000000
STREAM, DATAGRAM, SEQUENCED, NON_BLOCKING = 1, 2, 5, 0x800
READ_TRUNCATING, WRITE_TRUNCATING = os.O_TRUNC, os.O_TRUNC | os.O_WRONLY
POINTERS = (1, 1 << 32, (1 << 47) + 8)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "wanted", "calls"),
    [
        ("clone", ALLOW, [(THREAD,)]),
        ("clone", EPERM, [(SIGCHLD,), (THREAD | NEW_USER,), (0x4111,)]),
        ("kill", ALLOW, [(OWN_PID, 9)]),
        ("kill", EPERM, [(0, 9), (1, 9), (0xFFFFFFFF, 9)]),
        ("tgkill", EPERM, [(1, 1, 9)]),
        ("socketpair", ALLOW, [(1, STREAM), (1, STREAM | NON_BLOCKING | os.O_CLOEXEC)]),
        ("socketpair", EPERM, [(1, DATAGRAM), (1, SEQUENCED), (2, STREAM), (16, STREAM)]),
        ("sendto", ALLOW, [(3, 1 << 40, 1, 0, 0, 0)]),
        ("sendto", EPERM, [(3, 0, 1, 0, pointer, 16) for pointer in POINTERS]),
        ("utimensat", EPERM, [(0, 1 << 40, 0)]),
        ("utimensat", DONE, [(0, 1 << 40, pointer) for pointer in POINTERS]),
        ("prlimit64", ALLOW, [(0, 7), (OWN_PID, 7)]),
        ("prlimit64", EPERM, [(1, 7)]),
        ("setpriority", ALLOW, [(0, 0, 5), (0, OWN_PID, 5)]),
        ("setpriority", EPERM, [(0, 1, 5), (1, 0, 5), (2, 0, 5)]),
        ("prctl", EPERM, [(1, 0), (4, 1)]),
        ("prctl", ALLOW, [(15, 0), (3, 0)]),
        ("fcntl", EPERM, [(3, 8, 1), (3, 10, 9), (3, 1024, 0)]),
        ("fcntl", ALLOW, [(3, 0), (3, 3), (3, 5), (3, 36)]),
        ("fcntl", DONE, [(3, 6), (3, 7), (3, 37), (3, 38)]),
        ("ioctl", ALLOW, [(3, 0x5421)]),
        ("ioctl", ERRNO | errno.EOPNOTSUPP, [(3, 0x40086602), (3, 0x5412)]),
        ("truncate", ALLOW, [(1 << 40, 0)]),
        ("openat", ALLOW, [(0, 1 << 40, READ_TRUNCATING)]),
    ],
)
def test_the_filter_judges_by_arguments(machine, name, wanted, calls):
    number = names(machine)[name]
    assert {arguments: answer(machine, number, *arguments) for arguments in calls} == dict.fromkeys(calls, wanted)


@pytest.mark.parametrize("machine", MACHINES)
def test_truncation_is_guarded_for_an_old_landlock(machine):
    numbers = names(machine)
    assert answer(machine, numbers["truncate"], guard=True) == EPERM
    for flags, wanted in ((READ_TRUNCATING, EPERM), (os.O_TRUNC | 3, EPERM), (WRITE_TRUNCATING, ALLOW), (0, ALLOW)):
        assert answer(machine, numbers["openat"], 0, 0, flags, guard=True) == wanted
    if "open" in numbers:
        assert answer(machine, numbers["open"], 0, READ_TRUNCATING, guard=True) == EPERM


def test_a_machine_without_a_table_has_no_filter():
    with pytest.raises(OSError, match="no table of system calls for riscv64"):
        assemble(False, "riscv64")


def test_a_call_that_fails_names_itself():
    with pytest.raises(OSError, match="close_range: Invalid argument"):
        call("close_range", 5, 4, 0)
