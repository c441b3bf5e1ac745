"""Which slots are whose on this machine: one submission at a time has a slot, and under root its user id.

A claim is an abstract Unix socket of that name. The kernel lets one process bind it, and frees it when that
process and its forks have ended, however they end.
"""

from __future__ import annotations

import errno
import os
import socket

from viva.sandbox.confinement import SLOTS
from viva.verdict import SandboxError


class Claims:
    """Pairs of slots, for a candidate and its examiner; claimed when first asked for, kept until closed."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[int, int]] = {}

    def pair(self, number: int) -> int:
        """The first slot of the pair that is called ``number`` here. Raises SandboxError when all are taken."""
        if number not in self.held:
            self.held[number] = _claim()
        return self.held[number][0]

    def close(self) -> None:
        for _, descriptor in self.held.values():
            os.close(descriptor)
        self.held.clear()


def _claim() -> tuple[int, int]:
    for slot in range(0, SLOTS, 2):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0viva slot {slot}")
            return slot, claim.detach()
        except OSError as error:
            claim.close()
            if error.errno != errno.EADDRINUSE:
                raise SandboxError(f"No slot could be claimed: {error.strerror}.") from error
    raise SandboxError(
        f"All {SLOTS // 2} pairs of slots are in use. Stop other grading commands on this machine first."
    )
