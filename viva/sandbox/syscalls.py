"""The filter of system calls: which calls a sandboxed process may make, by name, and the BPF program that says so.

Each entry of the tables is "name x86_64 aarch64"; ``-`` says that the machine has no such call. tests/test_syscalls.py
compares the numbers with the kernel's own headers. What is in no table is allowed, up to ``HIGHEST``. The kernel keeps
a bitmap of the calls that are always allowed, so the length of the program costs nothing.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
import sys
from collections.abc import Iterator, Sequence

MACHINES = ("x86_64", "aarch64")
MACHINE = platform.machine()
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HIGHEST = 450
"""Linux 6.1. A call that a later kernel added is answered with ENOSYS until someone has judged it here."""

# Answered with EPERM: another program or process, the network, other processes, mounts, keys, shared memory that
# outlives its maker, watching files, identity, extended attributes, and what only root may do anyway.
_DENIED = """
fork 57 -, vfork 58 -, execve 59 221, execveat 322 281,
socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243, shutdown 48 210,
getsockname 51 204, getpeername 52 205, setsockopt 54 208, getsockopt 55 209,
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, get_robust_list 274 100,
tkill 200 130, ioprio_set 251 30, migrate_pages 256 238, move_pages 279 239,
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430,
fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, unshare 272 97, setns 308 268,
keyctl 250 219, add_key 248 217, request_key 249 218, bpf 321 280, perf_event_open 298 241,
shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187,
semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192,
mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184,
mq_getsetattr 245 185,
setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149,
setfsuid 122 151, setfsgid 123 152, setgroups 116 159, capset 126 91,
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, fanotify_init 300 262, fanotify_mark 301 263,
name_to_handle_at 303 264, open_by_handle_at 304 265,
init_module 175 105, finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294,
reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, quotactl 179 60, quotactl_fd 443 443,
syslog 103 116, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
sethostname 170 161, setdomainname 171 162, vhangup 153 58, personality 135 92,
lookup_dcookie 212 18, nfsservctl 180 42, iopl 172 -, ioperm 173 -, modify_ldt 154 -
"""

# Answered with ENOSYS, as by an older kernel, so that libraries take their other way. Of io_setup's contexts the
# machine has few, for all.
_ABSENT = """
clone3 435 435, io_setup 206 0, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427,
memfd_create 319 279, memfd_secret 447 447, userfaultfd 323 282, openat2 437 437,
pidfd_open 434 434, pidfd_send_signal 424 424, pidfd_getfd 438 438, process_madvise 440 440, process_mrelease 448 448
"""

# Answered with success and not carried out: Landlock does not cover them, and shutil.copy or zipfile call them. A lock
# could be held on any file that can be read, and keep everybody waiting who asks for it; nobody shares its own files.
_PRETENDED = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54, utime 132 -,
utimes 235 -, futimesat 261 -, sync 162 81, syncfs 306 267, flock 73 32
"""

# Judged by their arguments, or called by the sandbox itself while it rises.
_JUDGED = """
clone 56 220, mmap 9 222, socketpair 53 199, sendto 44 206, utimensat 280 88, kill 62 129,
tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, prlimit64 302 261,
setpriority 141 140,
sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274,
prctl 157 167, capget 125 90, fcntl 72 25, ioctl 16 29, open 2 -, openat 257 56, truncate 76 45,
close_range 436 436, seccomp 317 277, landlock_create_ruleset 444 444, landlock_add_rule 445 445,
landlock_restrict_self 446 446
"""


def _read(table: str) -> dict[str, dict[str, int]]:
    """The table as machine -> name -> number."""
    rows = [entry.split() for entry in table.split(",")]
    return {
        machine: {row[0]: int(row[column]) for row in rows if row[column] != "-"}
        for column, machine in enumerate(MACHINES, start=1)
    }


DENIED, ABSENT, PRETENDED, JUDGED = map(_read, (_DENIED, _ABSENT, _PRETENDED, _JUDGED))
NUMBERS = {
    name: number for table in (DENIED, ABSENT, PRETENDED, JUDGED) for name, number in table.get(MACHINE, {}).items()
}
"""Every number of this machine; empty on a machine that has no table."""


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library; only Linux has it in this form, and elsewhere nothing of this module is called."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def call(name: str, *arguments: int | bytes | bytearray | None) -> int:
    """Call the kernel by name; it may write into a bytearray. Raises OSError."""
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, f"there is no {name} on {sys.platform} {MACHINE}")
    result = _libc().syscall(ctypes.c_long(NUMBERS[name]), *map(_word, arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _word(argument: int | bytes | bytearray | None) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return (ctypes.c_char * len(argument)).from_buffer(argument) if isinstance(argument, bytearray) else argument


def prctl(option: int, *arguments: int) -> int:
    """Set an attribute of this process. Raises OSError."""
    return call("prctl", option, *(*arguments, 0, 0, 0, 0)[:4])


# BPF: one instruction is (code, jump if true, jump if false, constant)

LOAD, AND, JEQ, JGT, JSET, RETURN = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OWN_PID = 0x3F646970
"""Stands in a compiled filter for the process id, which is known only after the fork."""

MAP_SHARED, MAP_ANONYMOUS, MAP_GROWSDOWN = 1, 0x20, 0x100
CLONE_THREAD, NAMESPACES = 0x10000, 0x7E020000
AF_UNIX, SOCK_STREAM, SOCK_TYPE = 1, 1, 0xF
SAFE_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Some others change files that are open for reading."""

BAD_FCNTLS = (8, 10, 15, 1024, 1026)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX (they send any signal to any process of the same user), F_SETLEASE, F_NOTIFY."""

LOCKS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW: answered with success, as flock is. SQLite asks for them."""

SHARED_BYTES = 4096
"""The largest mapping that is shared and of no file. The limit of memory does not count such mappings, so only their
number limits them: the kernel allows 65,530 to a process (vm.max_map_count), which together are 256 MB of single
pages. Nobody needs larger ones, as there is no other process to share them; Python's documentation of mmap has one."""

BAD_PRCTLS = (1, 4, 35, 62, 0x59616D61)
"""PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM, PR_SCHED_CORE, PR_SET_PTRACER."""

Instruction = tuple[int, int, int, int]


def _returning(answer: int) -> Instruction:
    return (RETURN, 0, 0, answer)


def _argument(index: int) -> Instruction:
    return (LOAD, 0, 0, 16 + 8 * index)  # its low half; the numbers judged here are 32 bits wide


def _is_null(index: int, match: int, otherwise: int) -> list[Instruction]:
    """Judge a pointer: both its halves."""
    halves = [_argument(index), (JEQ, 0, 3, 0), (LOAD, 0, 0, 20 + 8 * index), (JEQ, 0, 1, 0)]
    return [*halves, _returning(match), _returning(otherwise)]


def _one_of(index: int, values: Sequence[int], match: int, otherwise: int) -> list[Instruction]:
    tests = [(JEQ, len(values) - number, 0, value) for number, value in enumerate(values)]
    return [_argument(index), *tests, _returning(otherwise), _returning(match)]


def _judged(guard_truncate: bool) -> Iterator[tuple[str, list[Instruction]]]:
    """The calls that are judged by an argument, each with the instructions that do it."""
    denied = ERRNO | errno.EPERM
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        yield name, _one_of(0, (OWN_PID,), ALLOW, denied)
    for name in ("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        yield name, _one_of(0, (0, OWN_PID), ALLOW, denied)
    # It stays on the processor of its worker: threads that spread would take the time of the others.
    yield "sched_setaffinity", _one_of(0, (0, OWN_PID), ERRNO | 0, denied)
    itself = [(JEQ, 0, 3, 0), _argument(1), (JEQ, 2, 0, 0), (JEQ, 1, 0, OWN_PID)]
    yield "setpriority", [_argument(0), *itself, _returning(denied), _returning(ALLOW)]
    thread = [(JSET, 1, 0, NAMESPACES), (JSET, 1, 0, CLONE_THREAD)]
    yield "clone", [_argument(0), *thread, _returning(denied), _returning(ALLOW)]
    # The limit of memory does not count what is shared, nor what grows downwards, which nobody asks for.
    large = [(LOAD, 0, 0, 20 + 8 * 1), (JEQ, 0, 2, 0), _argument(1), (JGT, 0, 1, SHARED_BYTES)]
    kinds = [(JSET, 6, 0, MAP_GROWSDOWN), (JSET, 0, 6, MAP_ANONYMOUS), (JSET, 0, 5, MAP_SHARED)]
    yield "mmap", [_argument(3), *kinds, *large, _returning(ERRNO | errno.ENOMEM), _returning(ALLOW)]
    # asyncio wakes itself by a pair of stream sockets; a datagram socket could reach others that have a name.
    pair = [(JEQ, 0, 4, AF_UNIX), _argument(1), (AND, 0, 0, SOCK_TYPE), (JEQ, 0, 1, SOCK_STREAM)]
    yield "socketpair", [_argument(0), *pair, _returning(ALLOW), _returning(denied)]
    yield "sendto", _is_null(4, ALLOW, denied)
    # Path.touch asks for "now", takes a refusal well, and would make no file if it were told that this was done.
    yield "utimensat", _is_null(2, denied, ERRNO | 0)
    yield "prctl", _one_of(0, BAD_PRCTLS, denied, ALLOW)
    commands = dict.fromkeys(BAD_FCNTLS, denied) | dict.fromkeys(LOCKS, ERRNO | 0)
    steps = [step for command, verdict in commands.items() for step in ((JEQ, 0, 1, command), _returning(verdict))]
    yield "fcntl", [_argument(1), *steps, _returning(ALLOW)]
    yield "ioctl", _one_of(1, SAFE_IOCTLS, ALLOW, ERRNO | errno.EOPNOTSUPP)
    if guard_truncate:  # before ABI 3 Landlock knows truncate no more than O_TRUNC without O_WRONLY
        yield "truncate", [_returning(denied)]
        for name, flags in (("open", 1), ("openat", 2)):
            writing = [(JSET, 0, 4, os.O_TRUNC), (AND, 0, 0, os.O_ACCMODE), (JEQ, 2, 0, 1), (JEQ, 1, 0, 2)]
            yield name, [_argument(flags), *writing, _returning(denied), _returning(ALLOW)]


@functools.cache
def assemble(guard_truncate: bool, machine: str = MACHINE) -> bytes:
    """The filter for ``machine`` as the kernel wants it, with OWN_PID in place of the process id."""
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"there is no table of system calls for {machine}")
    program = [(LOAD, 0, 0, 4), (JEQ, 1, 0, AUDIT_ARCH[machine]), _returning(KILL)]
    # Above the highest known lie what newer kernels added and, from 0x40000000 on, all of x32.
    program += [(LOAD, 0, 0, 0), (JGT, 0, 1, HIGHEST), _returning(ERRNO | errno.ENOSYS)]
    answers = ((DENIED, errno.EPERM), (ABSENT, errno.ENOSYS), (PRETENDED, 0))
    for table, number in answers:
        for call in table[machine].values():
            program += [(JEQ, 0, 1, call), _returning(ERRNO | number)]
    for name, block in _judged(guard_truncate):
        if name in JUDGED[machine]:
            program += [(JEQ, 0, len(block), JUDGED[machine][name]), *block]
    program.append(_returning(ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


def filter_calls(guard_truncate: bool) -> None:
    """Lock the calling process in the filter. Raises OSError."""
    program = assemble(guard_truncate).replace(struct.pack("I", OWN_PID), struct.pack("I", os.getpid()))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    call("seccomp", 1, 4, header)  # SECCOMP_SET_MODE_FILTER, SPEC_ALLOW: do not slow the process down
